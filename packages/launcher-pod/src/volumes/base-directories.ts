import { part } from "../explain.ts";
import { emptyDirectory } from "../pod/volume.ts";
import type { Step } from "../pod-draft.ts";

/** Directories that every launcher has, for itself, its helpers and the node agent. */
export const baseDirectories: Step = ({ profile, imageVolumes, explain }, { volumes, mounts }) => {
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

const names = [
  "private",
  "public",
  "sockets",
  "virt-bin-share-dir",
  "libvirt-runtime",
  "ephemeral-disks",
];
