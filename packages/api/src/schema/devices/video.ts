import { object, type Schema, string } from "../schema.ts";

/** The graphics card. */
export interface VideoDevice {
  /** For example `virtio`, `vga`, `bochs`, `cirrus` or `ramfb`. */
  type?: string;
}

export const VideoDeviceSchema: Schema<VideoDevice> = object<VideoDevice>({
  type: string,
});
