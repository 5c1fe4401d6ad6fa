import { boolean, object, type Schema } from "../schema.ts";

/** An emulated TPM. */
export interface TPMDevice {
  /** On if absent. */
  enabled?: boolean;
  /** Keeps its state across restarts. */
  persistent?: boolean;
}

export const TPMDeviceSchema: Schema<TPMDevice> = object<TPMDevice>({
  enabled: boolean,
  persistent: boolean,
});
