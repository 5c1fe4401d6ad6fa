import type { VirtualMachineInstance, Volume } from "@virtkit/api/schema";
import { isSet } from "@virtkit/api/shape";
import { guardVmi } from "../policy/guard-vmi.ts";

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

/**
 * Sorts a VMI's volumes. One that is in none of the lists is copied if it is a writable disk. A VMI of
 * another shape gives a `MigrationError` with the `path` of the field.
 */
export function classifyVolumes(vmi: VirtualMachineInstance): MigrationVolumes {
  return guardVmi(vmi, () => classify(vmi));
}

function classify({ spec, status }: VirtualMachineInstance): MigrationVolumes {
  const migrated = new Set((status?.migratedVolumes ?? []).map(({ volumeName }) => volumeName));
  const names = (kind: keyof MigrationVolumes): string[] => {
    const found = (spec.volumes ?? []).filter((volume) => kindOf(volume, migrated) === kind);
    return [...new Set(found.map(({ name }) => name))].sort();
  };
  return {
    shared: names("shared"),
    generated: names("generated"),
    localToMigrate: names("localToMigrate"),
  };
}

function kindOf(volume: Volume, migrated: ReadonlySet<string>): keyof MigrationVolumes | undefined {
  const { name, persistentVolumeClaim, dataVolume, hostDisk } = volume;
  const isClaim = isSet(persistentVolumeClaim) || isSet(dataVolume);
  if (isClaim || isSet(hostDisk)) {
    if (migrated.has(name)) return "localToMigrate";
    return isClaim || hostDisk?.shared ? "shared" : undefined;
  }
  return generatedSources.some((source) => isSet(volume[source])) ? "generated" : undefined;
}
