import { boolean, object, type Schema } from "../schema.ts";

/** An emulated trusted platform module. */
export interface TPMDevice {
  enabled?: boolean;
  persistent?: boolean;
}

export const TPMDeviceSchema: Schema<TPMDevice> = object<TPMDevice>({
  enabled: boolean,
  persistent: boolean,
});
