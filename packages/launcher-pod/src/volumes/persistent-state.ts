import { part } from "../explain.ts";
import {
  hasPersistentEfi,
  hasPersistentTpm,
  needsStateClaim,
  tracksChangedBlocks,
} from "../guest-traits.ts";
import type { LauncherRequest } from "../launcher-request.ts";
import { emptyDirectory } from "../pod/volume.ts";
import type { PodDraft, Step } from "../pod-draft.ts";

const volume = "vm-state";

/** The claim with state that outlives the guest: TPM, firmware variables, changed-block bitmaps. */
export const persistentState: Step = (request, draft) => {
  const { vmi, spec, status, stateClaim, explain } = request;
  if (!needsStateClaim(vmi)) return;
  draft.volumes.push({ name: volume, persistentVolumeClaim: { claimName: stateClaim } });
  explain?.(part.volume(volume), `cluster.persistentVolumeClaims[${stateClaim}]`, reason(request));
  mount(draft, request.profile.directories.stateMeta, "meta");
  if (request.nonRoot) ownedParents(request, draft);
  if (hasPersistentTpm(spec)) {
    mount(draft, stateDirectory(request, "swtpm"), "swtpm");
    mount(draft, certificateDirectory(request), "swtpm-localca");
  }
  if (hasPersistentEfi(spec)) mount(draft, stateDirectory(request, "nvram"), "nvram");
  if (tracksChangedBlocks(status.changedBlockTracking)) {
    mount(draft, stateDirectory(request, "cbt"), "cbt");
  }
};

function mount({ mounts }: PodDraft, mountPath: string, subPath: string): void {
  mounts.push({ name: volume, mountPath, subPath });
}

/**
 * The kubelet creates missing parents of a mount as root and closed to the group, so an unprivileged libvirt
 * could not write beside it; a separate directory for each parent solves that.
 */
function ownedParents({ profile, explain }: LauncherRequest, { volumes, mounts }: PodDraft): void {
  const { private: base } = profile.directories;
  volumes.push(emptyDirectory("private-libvirt"), emptyDirectory("private-libvirt-qemu"));
  mounts.push(
    { name: "private-libvirt", mountPath: `${base}/libvirt` },
    { name: "private-libvirt-qemu", mountPath: `${base}/libvirt/qemu` },
  );
  for (const name of ["private-libvirt", "private-libvirt-qemu"]) {
    explain?.(
      part.volume(name),
      "rule",
      "a parent of the state directories that libvirt may write",
    );
  }
}

function stateDirectory({ nonRoot, profile }: LauncherRequest, kind: string): string {
  if (nonRoot) return `${profile.directories.private}/libvirt/qemu/${kind}`;
  return kind === "swtpm" ? "/var/lib/libvirt/swtpm" : `/var/lib/libvirt/qemu/${kind}`;
}

function certificateDirectory({ nonRoot, profile }: LauncherRequest): string {
  return nonRoot
    ? `${profile.directories.private}/var/lib/swtpm-localca`
    : "/var/lib/swtpm-localca";
}

function reason({ spec }: LauncherRequest): string {
  if (hasPersistentTpm(spec)) return "vmi.spec.domain.devices.tpm is persistent";
  if (hasPersistentEfi(spec)) return "vmi.spec.domain.firmware.bootloader.efi is persistent";
  return "vmi.status.changedBlockTracking is on";
}
