import { object, required, type Schema, string } from "../schema.ts";

/** The sound card. */
export interface SoundDevice {
  model?: string;
  name: string;
}

export const SoundDeviceSchema: Schema<SoundDevice> = object<SoundDevice>({
  model: string,
  name: required(string),
});
