import type { VirtualMachineInstance, Volume } from "@virtkit/api/schema";
import { isSet } from "@virtkit/api/shape";

/** What volumes mean for a migration. */
export interface VolumeMigratability {
  /** Whether a volume must be copied along. */
  readonly copies: boolean;
  /** Why a volume prevents the VMI from moving. */
  readonly obstacle?: string;
}

/**
 * Whether the volumes of a VMI let it move. Claims and host disks must be shared, or be migrated along. What the
 * launcher generates is copied, unless it is a file system or a read-only CD-ROM.
 */
export function volumeMigratability(vmi: VirtualMachineInstance): VolumeMigratability {
  const volumes = vmi.spec.volumes ?? [];
  for (const volume of volumes) {
    const obstacle = obstacleOf(volume, vmi);
    // KubeVirt then copies everything else as well.
    if (obstacle !== undefined) return { copies: true, obstacle };
  }
  const migrates = (vmi.status?.migratedVolumes ?? []).length > 0;
  return { copies: migrates || volumes.some((volume) => isCopied(volume, vmi)) };
}

function obstacleOf(volume: Volume, vmi: VirtualMachineInstance): string | undefined {
  const { name, persistentVolumeClaim, dataVolume, hostDisk } = volume;
  const known = (vmi.status?.volumeStatus ?? []).findLast((status) => status.name === name);
  const claim = known?.persistentVolumeClaimInfo;
  if (isSet(persistentVolumeClaim) || isSet(dataVolume)) {
    if (!claim) return `the claim of volume ${name} is unknown; it must be ReadWriteMany`;
  } else if (!isSet(hostDisk)) {
    return undefined;
  } else if (!claim) {
    return hostDisk.shared ? undefined : `the host disk of volume ${name} is not shared`;
  }
  const isShared = (claim.accessModes ?? []).includes("ReadWriteMany");
  const migrates = (vmi.status?.migratedVolumes ?? []).some(
    ({ volumeName }) => volumeName === name,
  );
  return isShared || migrates
    ? undefined
    : `the claim of volume ${name} is not shared; it must be ReadWriteMany`;
}

function isCopied(volume: Volume, { spec }: VirtualMachineInstance): boolean {
  const { name, persistentVolumeClaim, dataVolume, hostDisk } = volume;
  if (isSet(persistentVolumeClaim) || isSet(dataVolume) || isSet(hostDisk)) return false;
  const { filesystems = [], disks = [] } = spec.domain.devices ?? {};
  if (filesystems.some((filesystem) => filesystem.name === name)) return false;
  return !disks.some(
    (disk) => disk.name === name && isSet(disk.cdrom) && disk.cdrom.readonly !== false,
  );
}
