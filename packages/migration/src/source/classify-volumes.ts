import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { isSet } from "@virtkit/api/shape";

/** The volumes of a VMI by what a migration does with them, each list sorted by name. */
export interface MigrationVolumes {
  /** Both sides reach them. */
  readonly shared: readonly string[];
  /** Made by the launcher itself; the target's may differ, so they are copied even if read-only. */
  readonly generated: readonly string[];
  /** Copied to another volume, because the VMI's status says so. */
  readonly localToMigrate: readonly string[];
}

const generatedSources = [
  "configMap",
  "secret",
  "downwardAPI",
  "serviceAccount",
  "cloudInitNoCloud",
  "cloudInitConfigDrive",
  "containerDisk",
] as const;

/** Sorts a VMI's volumes. One that is in none of the lists is copied if it is a writable disk. */
export function classifyVolumes({ spec, status }: VirtualMachineInstance): MigrationVolumes {
  const migrated = new Set((status?.migratedVolumes ?? []).map(({ volumeName }) => volumeName));
  const shared = new Set<string>();
  const generated = new Set<string>();
  const localToMigrate = new Set<string>();
  for (const volume of spec.volumes ?? []) {
    const { name, persistentVolumeClaim, dataVolume, hostDisk } = volume;
    if (isSet(persistentVolumeClaim) || isSet(dataVolume)) {
      (migrated.has(name) ? localToMigrate : shared).add(name);
    } else if (isSet(hostDisk)) {
      if (migrated.has(name)) localToMigrate.add(name);
      else if (hostDisk.shared) shared.add(name);
    } else if (generatedSources.some((source) => isSet(volume[source]))) {
      generated.add(name);
    }
  }
  const sorted = (found: ReadonlySet<string>): string[] => [...found].sort();
  return {
    shared: sorted(shared),
    generated: sorted(generated),
    localToMigrate: sorted(localToMigrate),
  };
}
