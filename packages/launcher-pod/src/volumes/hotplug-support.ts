import { part } from "../explain.ts";
import { emptyDirectory } from "../pod/volume.ts";
import type { Step } from "../pod-draft.ts";

/** The directory into which the node agent mounts hotplugged disks. */
export const hotplugSupport: Step = ({ devices, profile, explain }, { volumes, mounts }) => {
  if (devices.disableHotplug) return;
  mounts.push({
    name: hotplugVolume,
    mountPath: profile.directories.hotplugDisks,
    mountPropagation: "HostToContainer",
  });
  volumes.push(emptyDirectory(hotplugVolume));
  explain?.(
    part.volume(hotplugVolume),
    "vmi.spec.domain.devices.disableHotplug",
    "not set: disks may be plugged in later",
  );
};

/** Name of the volume with hotplugged disks, in launcher and hotplug Pods. */
export const hotplugVolume = "hotplug-disks";
