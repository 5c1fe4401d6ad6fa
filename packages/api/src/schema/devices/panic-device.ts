import { type OpenEnum, object, openEnum, type Schema } from "../schema.ts";

/** Which panic device is emulated. */
export type PanicDeviceModel = OpenEnum<typeof PanicDeviceModelValues>;
export const PanicDeviceModelValues = ["hyperv", "isa", "pvpanic"] as const;
export const PanicDeviceModelSchema: Schema<PanicDeviceModel> = openEnum(PanicDeviceModelValues);

/** Tells the host that the guest's kernel has crashed. */
export interface PanicDevice {
  model?: PanicDeviceModel;
}

export const PanicDeviceSchema: Schema<PanicDevice> = object<PanicDevice>({
  model: PanicDeviceModelSchema,
});
