import type { VirtualMachineInstance, Volume } from "@virtkit/api/schema";
import { isSet } from "@virtkit/api/shape";

/** What volumes mean for a migration. */
export interface VolumeMigratability {
  /** Whether some volume has to be copied along. */
  readonly copies: boolean;
  /** Why a volume keeps the VMI where it is. */
  readonly obstacle?: string;
}

/**
 * Whether the volumes of a VMI let it move. Claims must be shared, or be migrated along; host disks,
 * too. What the launcher makes itself is copied, unless it is a file system or a read-only CD-ROM.
 */
export function volumeMigratability(vmi: VirtualMachineInstance): VolumeMigratability {
  const volumes = vmi.spec.volumes ?? [];
  for (const volume of volumes) {
    const obstacle = obstacleOf(volume, vmi);
    // KubeVirt then copies whatever else there is.
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
    if (!claim) return `nothing is known of the claim of volume ${name}; it must be ReadWriteMany`;
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
