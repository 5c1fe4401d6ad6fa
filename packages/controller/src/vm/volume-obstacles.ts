import type {
  Disk,
  StorageMigratedVolumeInfo,
  VirtualMachineInstance,
  VolumeStatus,
} from "@virtkit/api/schema";
import { at, isSet, objects, text } from "@virtkit/api/shape";
import { conditionsOf, hasCondition } from "@virtkit/api/status";
import { claimNameOf, inNamespaceOf, volumesOf } from "@virtkit/api/status/vm";
import { changedClaims, claimOf } from "./migrated-volumes.ts";
import type { VmPass } from "./vm-pass.ts";

/** Why volumes are not moved. */
export interface VolumeObstacle {
  /**
   * `missing`: a claim does not exist yet. `unfit`: a volume cannot be moved. `stuck`: the guest
   * cannot.
   */
  readonly kind: "missing" | "unfit" | "stuck";
  readonly message: string;
}

/**
 * The first reason why the volumes changed in the template cannot be moved while the guest runs.
 */
export function migrationObstacle(
  pass: VmPass,
  vmi: VirtualMachineInstance,
  volumes: readonly StorageMigratedVolumeInfo[],
): VolumeObstacle | undefined {
  const claims = changedClaims(pass.vm, vmi);
  const disks = new Map(
    objects<Disk>(at(vmi, "spec", "domain", "devices", "disks")).map((disk) => [disk.name, disk]),
  );
  const filesystems = new Set(
    objects(at(vmi, "spec", "domain", "devices", "filesystems")).map(({ name }) => text(name)),
  );
  const unfit: string[] = [];
  for (const volume of volumesOf(pass.vm).filter(({ name }) => claims.has(name))) {
    const disk = disks.get(volume.name);
    const problem = filesystems.has(volume.name) ? "is a file system" : disk && diskProblem(disk);
    if (problem) unfit.push(`${volume.name} ${problem}`);
    if (problem || !disk) continue;
    const missing = sourceProblem(pass, claimNameOf(volume), isSet(volume.dataVolume));
    if (missing?.kind === "missing") return missing;
    if (missing) unfit.push(`${volume.name} ${missing.message}`);
  }
  if (unfit.length > 0) {
    return { kind: "unfit", message: `volumes cannot be moved: ${unfit.join(", ")}` };
  }
  return storageObstacle(vmi, volumes);
}

function diskProblem(disk: Disk): string | undefined {
  if (disk.shareable === true) return "is shared with other VMs";
  return isSet(disk.lun) ? "is a LUN" : undefined;
}

/** A DataVolume without data can be a destination only if a populator fills it later. */
function sourceProblem(
  pass: VmPass,
  name: string,
  isDataVolume: boolean,
): VolumeObstacle | undefined {
  const missing = (kind: string): VolumeObstacle => ({
    kind: "missing",
    message: `${kind} ${name} does not exist; create it`,
  });
  if (isDataVolume) {
    const dataVolume = inNamespaceOf(pass.vm, name, pass.view.dataVolumes);
    if (!dataVolume) return missing("DataVolume");
    if (at(dataVolume, "status", "phase") === "Succeeded") return undefined;
  }
  const claim = claimOf(pass, name);
  if (!claim) return missing("PersistentVolumeClaim");
  return isDataVolume && !isSet(claim.spec?.dataSourceRef)
    ? { kind: "unfit", message: "is empty, and no volume populator will fill it" }
    : undefined;
}

/**
 * Why a VMI cannot migrate with these volumes. A volume that only one node may use has to be moved
 * along.
 */
export function storageObstacle(
  vmi: VirtualMachineInstance,
  volumes: readonly StorageMigratedVolumeInfo[],
): VolumeObstacle | undefined {
  if (volumes.length === 0) return undefined;
  if (hasCondition(conditionsOf(vmi), "StorageLiveMigratable", "False")) {
    return {
      kind: "stuck",
      message: "the VMI cannot migrate; see its condition StorageLiveMigratable",
    };
  }
  const moved = new Set(volumes.map(({ volumeName }) => volumeName));
  const left = objects<VolumeStatus>(at(vmi, "status", "volumeStatus")).find((volume) => {
    const modes = at(volume, "persistentVolumeClaimInfo", "accessModes");
    if (!isSet(at(volume, "persistentVolumeClaimInfo")) || moved.has(volume.name)) return false;
    return !isStateVolume(volume.name) && !isShared(modes);
  });
  return (
    left && {
      kind: "stuck",
      message: `volume ${left.name} can only be used on one node and is not moved; move it as well`,
    }
  );
}

/** The VM's own state moves automatically. */
function isStateVolume(name: string): boolean {
  return name.startsWith("persistent-state-for");
}

function isShared(modes: unknown): boolean {
  return (
    Array.isArray(modes) && (modes.includes("ReadWriteMany") || modes.includes("ReadOnlyMany"))
  );
}
