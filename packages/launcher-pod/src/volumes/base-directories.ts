import { part } from "../explain.ts";
import { emptyDirectory } from "../pod/volume.ts";
import type { Step } from "../pod-draft.ts";

/** Directories that every launcher has, for itself, its helpers and the node agent. */
export const baseDirectories: Step = (request, { volumes, mounts }) => {
  const { profile, nonRoot, imageVolumes, explain } = request;
  const { directories } = profile;
  for (const name of names) {
    volumes.push(emptyDirectory(name));
    explain?.(part.volume(name), "profile.directories", "every launcher has this directory");
  }
  mounts.push(
    { name: "private", mountPath: directories.private },
    { name: "public", mountPath: directories.share },
    { name: "ephemeral-disks", mountPath: directories.ephemeralDisks },
    { name: "libvirt-runtime", mountPath: directories.libvirt },
    { name: "sockets", mountPath: directories.sockets },
  );
  if (profile.readOnlyRoot && nonRoot) {
    volumes.push(emptyDirectory(temporary));
    mounts.push({ name: temporary, mountPath: "/tmp" });
    explain?.(part.volume(temporary), "profile.readOnlyRoot", "programs of the image write there");
  }
  if (imageVolumes) return;
  volumes.push(emptyDirectory("container-disks"));
  mounts.push({
    name: "container-disks",
    mountPath: directories.containerDisks,
    mountPropagation: "HostToContainer",
  });
  explain?.(
    part.volume("container-disks"),
    "config.developerConfiguration.featureGates[ImageVolume]",
    "without image volumes the node agent mounts containerDisks here",
  );
};

/** Not a name that a user would choose for a volume. */
const temporary = "launcher-tmp";

const names = [
  "private",
  "public",
  "sockets",
  "virt-bin-share-dir",
  "libvirt-runtime",
  "ephemeral-disks",
];
