import { object, required, type Schema, string } from "../schema.ts";

/** The sound card. */
export interface SoundDevice {
  /** `ich9` or `ac97`; `ich9` if absent. */
  model?: string;
  name: string;
}

export const SoundDeviceSchema: Schema<SoundDevice> = object<SoundDevice>({
  model: string,
  name: required(string),
});
