import { type OpenEnum, object, openEnum, type Schema } from "../schema.ts";

/** The model of the panic device. */
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
