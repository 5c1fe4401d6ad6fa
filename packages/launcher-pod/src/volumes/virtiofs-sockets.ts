import { part } from "../explain.ts";
import { hasVirtiofs } from "../guest-traits.ts";
import { emptyDirectory } from "../pod/volume.ts";
import type { Step } from "../pod-draft.ts";

/** The directory in which virtiofsd containers offer their sockets to QEMU. */
export const virtiofsSockets: Step = ({ spec, profile, explain }, { volumes, mounts }) => {
  if (!hasVirtiofs(spec)) return;
  mounts.push({ name: virtiofsVolume, mountPath: profile.directories.virtiofs });
  volumes.push(emptyDirectory(virtiofsVolume));
  explain?.(
    part.volume(virtiofsVolume),
    "vmi.spec.domain.devices.filesystems",
    "directories are shared with the guest",
  );
};

/** Name of the volume with the sockets of virtiofsd. */
export const virtiofsVolume = "virtiofs-containers";
