import type { LauncherRequest } from "../launcher-request.ts";

/** Name of the volume, real or not, that stands for the kernel's image. */
export const kernelBootVolume = "kernel-boot-volume";

/** Name of the volume with the launcher's own image. */
export const launcherBinaryVolume = "launcher-volume";

/** Name of the container that stands for the image of a volume. */
export function imageContainerName(volume: string): string {
  return `volume${volume}`;
}

/** Whether the exact image of a volume is known, as it is for the target of a migration. */
export function isPinned({ pinnedImages }: LauncherRequest, volume: string): boolean {
  return pinnedImages.get(volume)?.includes("@sha256:") ?? false;
}
