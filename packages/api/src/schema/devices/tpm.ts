import { boolean, object, type Schema } from "../schema.ts";

/** An emulated trusted platform module. */
export interface TPMDevice {
  /** On if absent. */
  enabled?: boolean;
  /** Keeps its state between starts. */
  persistent?: boolean;
}

export const TPMDeviceSchema: Schema<TPMDevice> = object<TPMDevice>({
  enabled: boolean,
  persistent: boolean,
});
