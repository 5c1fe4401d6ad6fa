import type { Volume } from "@virtkit/api/schema";
import { isBlockClaim } from "@virtkit/api/volumes";
import { part } from "../explain.ts";
import { LauncherPodError } from "../launcher-pod-error.ts";
import type { LauncherRequest } from "../launcher-request.ts";
import type { PodDraft, Step } from "../pod-draft.ts";
import { cloudInitVolumes } from "./cloud-init-volumes.ts";
import { directoryOf } from "./directory-of.ts";
import { hotpluggedVolumes } from "./hotplugged-volumes.ts";

/**
 * Volumes with disks or with the files that disks are made from: claims, data volumes, directories of the node,
 * downward metrics, cloud-init and sysprep. Hotplugged ones are not the launcher's: another Pod attaches them.
 */
export const diskVolumes: Step = (request, draft) => {
  const hotplugged = hotpluggedVolumes(request.spec, request.status);
  for (const [index, volume] of (request.spec.volumes ?? []).entries()) {
    if (hotplugged.has(volume.name)) continue;
    const path = `spec.volumes[${index}]`;
    claimVolumes(request, draft, volume, path);
    hostDiskVolume(request, draft, volume, path);
    downwardMetricsVolume(request, draft, volume, path);
    cloudInitVolumes(request, draft, volume, path);
    sysprepVolume(request, draft, volume, path);
  }
};

function claimVolumes(
  request: LauncherRequest,
  draft: PodDraft,
  volume: Volume,
  path: string,
): void {
  const { persistentVolumeClaim, ephemeral, dataVolume } = volume;
  if (persistentVolumeClaim) {
    const { claimName, readOnly } = persistentVolumeClaim;
    attachClaim(request, draft, volume.name, claimName, `${path}.persistentVolumeClaim.claimName`);
    addClaim(request, draft, volume.name, claimName, readOnly === true, path);
  }
  if (ephemeral) {
    const claim = ephemeral.persistentVolumeClaim;
    if (!claim) {
      const message = `${path}.ephemeral has no persistentVolumeClaim; name the claim to overlay`;
      throw new LauncherPodError("LAUNCHER_POD_FIELD_INVALID", message, {
        path: `${path}.ephemeral`,
      });
    }
    const claimPath = `${path}.ephemeral.persistentVolumeClaim.claimName`;
    attachClaim(request, draft, volume.name, claim.claimName, claimPath);
    addClaim(request, draft, volume.name, claim.claimName, claim.readOnly === true, path);
  }
  if (dataVolume) {
    attachClaim(request, draft, volume.name, dataVolume.name, `${path}.dataVolume.name`);
    addClaim(request, draft, volume.name, dataVolume.name, false, path);
  }
}

/** A block claim is a device of the compute container, any other is a directory. */
function attachClaim(
  { lookup, namespace, profile }: LauncherRequest,
  draft: PodDraft,
  name: string,
  claimName: string,
  path: string,
): void {
  const claim = lookup.persistentVolumeClaim(namespace, claimName);
  if (!claim) {
    const message = `${path}: PersistentVolumeClaim "${claimName}" does not exist in namespace "${namespace}"; create it, or wait for it`;
    throw new LauncherPodError("LAUNCHER_POD_NOT_FOUND", message, { path });
  }
  if (isBlockClaim(claim.spec)) {
    draft.blockDevices.push({ name, devicePath: `/dev/${name}` });
    return;
  }
  const mountPath = `${profile.directories.private}/vmi-disks/${name}`;
  draft.mounts.push({ name, mountPath });
  if (claim.spec?.accessModes?.includes("ReadWriteMany")) draft.sharedFilesystems.push(mountPath);
}

function addClaim(
  { explain }: LauncherRequest,
  { volumes }: PodDraft,
  name: string,
  claimName: string,
  readOnly: boolean,
  path: string,
): void {
  const persistentVolumeClaim = readOnly ? { claimName, readOnly } : { claimName };
  volumes.push({ name, persistentVolumeClaim });
  explain?.(part.volume(name), `vmi.${path}`, "a claim with a disk of the guest");
}

/** The file's directory is mounted, so that the file can be created in it. */
function hostDiskVolume(
  { profile, explain }: LauncherRequest,
  { volumes, mounts }: PodDraft,
  { name, hostDisk }: Volume,
  path: string,
): void {
  if (!hostDisk) return;
  const type = hostPathTypes.get(hostDisk.type) ?? "";
  mounts.push({ name, mountPath: `${profile.directories.private}/vmi-disks/${name}` });
  volumes.push({ name, hostPath: { path: directoryOf(hostDisk.path), type } });
  explain?.(part.volume(name), `vmi.${path}.hostDisk`, "the node's directory with the disk");
}

const hostPathTypes: ReadonlyMap<string, string> = new Map([
  ["Disk", "Directory"],
  ["DiskOrCreate", "DirectoryOrCreate"],
]);

function downwardMetricsVolume(
  { profile, explain }: LauncherRequest,
  { volumes, mounts }: PodDraft,
  { name, downwardMetrics }: Volume,
  path: string,
): void {
  if (!downwardMetrics) return;
  volumes.push({ name, emptyDir: { medium: "Memory", sizeLimit: "1Mi" } });
  mounts.push({ name, mountPath: `${profile.directories.private}/downwardmetric-disk` });
  explain?.(part.volume(name), `vmi.${path}.downwardMetrics`, "the disk with metrics, in memory");
}

function sysprepVolume(
  { profile, explain }: LauncherRequest,
  { volumes, mounts }: PodDraft,
  { name, sysprep }: Volume,
  path: string,
): void {
  if (!sysprep) return;
  const { secret, configMap } = sysprep;
  if (secret) {
    volumes.push({ name, secret: secret.name ? { secretName: secret.name } : {} });
  } else if (configMap) {
    volumes.push({ name, configMap: configMap.name ? { name: configMap.name } : {} });
  } else {
    const message = `${path}.sysprep names neither a secret nor a configMap; name one`;
    throw new LauncherPodError("LAUNCHER_POD_FIELD_INVALID", message, { path: `${path}.sysprep` });
  }
  mounts.push({
    name,
    readOnly: true,
    mountPath: `${profile.directories.private}/sysprep/${name}`,
  });
  explain?.(part.volume(name), `vmi.${path}.sysprep`, "the answer file for Windows");
}
