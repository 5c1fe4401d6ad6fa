import { object, type Schema, string } from "../schema.ts";

/** The graphics card. */
export interface VideoDevice {
  type?: string;
}

export const VideoDeviceSchema: Schema<VideoDevice> = object<VideoDevice>({
  type: string,
});
