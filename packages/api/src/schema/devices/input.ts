import { type OpenEnum, object, openEnum, required, type Schema, string } from "../schema.ts";

/** Bus of an input device. */
export type InputBus = OpenEnum<typeof InputBusValues>;
export const InputBusValues = ["usb", "virtio"] as const;
export const InputBusSchema: Schema<InputBus> = openEnum(InputBusValues);

/** Kind of an input device. */
export type InputType = OpenEnum<typeof InputTypeValues>;
export const InputTypeValues = ["tablet", "keyboard"] as const;
export const InputTypeSchema: Schema<InputType> = openEnum(InputTypeValues);

/** A keyboard or pointing device. */
export interface Input {
  bus?: InputBus;
  name: string;
  type: InputType;
}

export const InputSchema: Schema<Input> = object<Input>({
  bus: InputBusSchema,
  name: required(string),
  type: required(InputTypeSchema),
});
