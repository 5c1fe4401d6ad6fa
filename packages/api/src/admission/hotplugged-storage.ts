import type { ClusterConfig } from "../config/index.ts";
import {
  type Disk,
  DiskSchema,
  type VirtualMachineInstance,
  type Volume,
  VolumeSchema,
} from "../schema/index.ts";
import { type Cause, fine, invalid, quote } from "./cause.ts";
import { hotplugDisk } from "./hotplug-disk.ts";
import { semanticallyEqual } from "./semantic-equality.ts";

/** The volumes of a VMI before and after a change. */
interface StorageChange {
  readonly now: VirtualMachineInstance;
  readonly old: VirtualMachineInstance;
  readonly config: ClusterConfig;
}

/** Volumes that a VMI has had from the start: those that its status does not list as hotplugged. */
export function permanentVolumeNames({ status }: VirtualMachineInstance): ReadonlySet<string> {
  return new Set(
    status?.volumeStatus?.filter(({ hotplugVolume }) => !hotplugVolume).map(({ name }) => name),
  );
}

/**
 * What KubeVirt may change in the storage of a running VMI: plug volumes in and out, with their disks, and move
 * a volume by a volume migration. Everything else must stay.
 */
export function hotpluggedStorage(change: StorageChange): readonly Cause[] {
  const { now, old } = change;
  const mismatch = disksMatchVolumes(change);
  if (mismatch.length > 0) return mismatch;
  const permanent = permanentVolumeNames(old);
  const migrated = new Set(now.status?.migratedVolumes?.map(({ volumeName }) => volumeName));
  const storage: Storage = {
    isPermanent: ({ name }) => permanent.has(name),
    isMigrated: ({ name }) => migrated.has(name),
    disks: byName(now.spec.domain.devices.disks),
    oldDisks: byName(old.spec.domain.devices.disks),
    oldVolumes: byName(old.spec.volumes),
  };
  const volumes = [...byName(now.spec.volumes).values()];
  const permanentCauses = permanentVolumes(volumes.filter(storage.isPermanent), storage);
  if (permanentCauses.length > 0) return permanentCauses;
  for (const volume of volumes) {
    const causes = storage.isPermanent(volume) ? fine : hotpluggedVolume(volume, storage);
    if (causes.length > 0) return causes;
  }
  return fine;
}

interface Storage {
  isPermanent(volume: Volume): boolean;
  isMigrated(volume: Volume): boolean;
  readonly disks: ReadonlyMap<string, Disk>;
  readonly oldDisks: ReadonlyMap<string, Disk>;
  readonly oldVolumes: ReadonlyMap<string, Volume>;
}

function byName<T extends { name: string }>(items: readonly T[] = []): ReadonlyMap<string, T> {
  return new Map(items.map((item) => [item.name, item]));
}

/** There must be as many volumes as disks and file systems; memory dumps and empty CD-ROMs need none. */
function disksMatchVolumes({ now, config }: StorageChange): readonly Cause[] {
  const { disks = [], filesystems = [] } = now.spec.domain.devices;
  const names = new Set(
    now.spec.volumes?.filter(({ memoryDump }) => !memoryDump).map(({ name }) => name),
  );
  const mayBeEmpty = config.gate("DeclarativeHotplugVolumes");
  const filled = disks.filter(({ name, cdrom }) => names.has(name) || !(cdrom && mayBeEmpty));
  const needed = filled.length + filesystems.length;
  if (needed === names.size) return fine;
  return invalid(
    undefined,
    `spec.volumes has ${names.size} volumes, but disks and filesystems need ${needed}; add or remove them in pairs`,
  );
}

function permanentVolumes(volumes: readonly Volume[], storage: Storage): readonly Cause[] {
  const before = [...storage.oldVolumes.values()].filter(storage.isPermanent).length;
  if (volumes.length !== before) {
    return invalid(
      undefined,
      `spec.volumes has ${volumes.length} permanent volumes, but had ${before}; permanent volumes cannot be unplugged`,
    );
  }
  for (const volume of volumes) {
    const causes = storage.isMigrated(volume) ? fine : permanentVolume(volume, storage);
    if (causes.length > 0) return causes;
  }
  return fine;
}

function permanentVolume(volume: Volume, storage: Storage): readonly Cause[] {
  const { name } = volume;
  const before = storage.oldVolumes.get(name);
  if (!before || !semanticallyEqual(VolumeSchema, volume, before)) {
    return invalid(
      undefined,
      `spec.volumes changes the permanent volume ${quote(name)}; it cannot be changed while the guest runs`,
    );
  }
  return unchangedDisk(name, storage, "permanent");
}

function unchangedDisk(name: string, storage: Storage, kind: string): readonly Cause[] {
  const disk = storage.disks.get(name);
  const before = storage.oldDisks.get(name);
  const same = disk && before ? semanticallyEqual(DiskSchema, disk, before) : disk === before;
  if (same) return fine;
  return invalid(
    undefined,
    `spec.domain.devices.disks changes the ${kind} disk ${quote(name)}; it cannot be changed while the guest runs`,
  );
}

function hotpluggedVolume(volume: Volume, storage: Storage): readonly Cause[] {
  const before = storage.oldVolumes.get(volume.name);
  return before ? keptVolume(volume, before, storage) : newVolume(volume, storage);
}

function keptVolume(volume: Volume, before: Volume, storage: Storage): readonly Cause[] {
  const { name } = volume;
  if (!storage.isMigrated(volume) && !semanticallyEqual(VolumeSchema, volume, before)) {
    return invalid(
      undefined,
      `spec.volumes changes the hotplugged volume ${quote(name)}; unplug it and plug in another`,
    );
  }
  if (volume.memoryDump) return fine;
  if (!storage.disks.has(name)) return withoutDisk(name);
  return unchangedDisk(name, storage, "hotplugged");
}

function newVolume(volume: Volume, storage: Storage): readonly Cause[] {
  const { name, dataVolume, persistentVolumeClaim, memoryDump } = volume;
  if (memoryDump) return fine;
  if (!dataVolume && !persistentVolumeClaim) {
    return invalid(
      undefined,
      `spec.volumes has the new volume ${quote(name)}; only a persistentVolumeClaim or dataVolume can be plugged in`,
    );
  }
  const disk = storage.disks.get(name);
  if (!disk) return withoutDisk(name);
  return storage.oldDisks.has(name) ? fine : hotplugDisk(disk, name, undefined);
}

function withoutDisk(name: string): readonly Cause[] {
  return invalid(undefined, `spec.volumes has ${quote(name)} without a disk of that name; add one`);
}
