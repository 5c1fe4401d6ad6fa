import type { DownwardAPIVolumeFile } from "@virtkit/api/schema";

/** A volume of a Pod, with the sources that a launcher or hotplug Pod uses. */
export interface PodVolume {
  name: string;
  emptyDir?: { medium?: string; sizeLimit?: string };
  persistentVolumeClaim?: { claimName: string; readOnly?: boolean };
  secret?: { secretName?: string; optional?: boolean };
  configMap?: { name?: string; optional?: boolean; defaultMode?: number };
  downwardAPI?: { items?: readonly DownwardAPIVolumeFile[] };
  hostPath?: { path: string; type: string };
  image?: { reference?: string; pullPolicy?: string };
}

/** Where a container sees a volume as files. */
export interface VolumeMount {
  name: string;
  readOnly?: boolean;
  mountPath: string;
  subPath?: string;
  mountPropagation?: string;
}

/** Where a container sees a volume as a block device. */
export interface VolumeDevice {
  name: string;
  devicePath: string;
}

/** An empty directory that lives as long as the Pod. */
export function emptyDirectory(name: string): PodVolume {
  return { name, emptyDir: {} };
}
