import type { VirtualMachineInstance, VirtualMachineInstanceMigration } from "@virtkit/api/schema";
import { at, entry, isSet, objects, text } from "@virtkit/api/shape";
import { conditionsOf, findCondition, hasCondition, isFinal, isRunning } from "@virtkit/api/status";
import { isMigrating } from "@virtkit/api/status/vm";
import { nameOf } from "../plan/object-name.ts";
import { isDeleting } from "../plan/ownership.ts";
import { storageObstacle } from "../vm/volume-obstacles.ts";
import type { WorkloadConfig, WorkloadView } from "./workload-view.ts";

/** VMIs by what to do about them. */
export interface Workloads {
  /** Those that are outdated, whether or not anything can be done. */
  readonly outdated: readonly VirtualMachineInstance[];
  readonly migratable: readonly VirtualMachineInstance[];
  readonly evictable: readonly VirtualMachineInstance[];
  /** Those whose change was reverted, with the migrations that it had started. */
  readonly aborted: readonly VirtualMachineInstance[];
}

/** Sorts the running VMIs of a cluster. */
export function sortWorkloads(view: WorkloadView, config: WorkloadConfig, now: number): Workloads {
  const running = view.vmis.filter((vmi) => isRunning(vmi) && !isDeleting(vmi));
  const old = new Set(running.filter((vmi) => isOutdated(vmi, view.launcherImage)));
  const aborted = new Set(running.filter((vmi) => !old.has(vmi) && isTakenBack(vmi, view, config)));
  const outdated = running.filter(
    (vmi) => old.has(vmi) || (!aborted.has(vmi) && needsMigration(vmi, config, now)),
  );
  const moving = new Set(view.migrations.filter((item) => !isOver(item)).map(vmiKeyOf));
  const idle = outdated.filter((vmi) => !isMigrating({ vmi, now }) && !moving.has(keyOf(vmi)));
  const given = at(view.kubevirt, "spec", "workloadUpdateStrategy", "workloadUpdateMethods");
  const methods: readonly unknown[] = Array.isArray(given) ? given : [];
  const migratable = methods.includes("LiveMigrate") ? idle.filter(canMigrate) : [];
  const evictable = methods.includes("Evict")
    ? idle.filter((vmi) => !migratable.includes(vmi))
    : [];
  return { outdated, migratable, evictable, aborted: [...aborted] };
}

/** Unfinished migrations of a VMI that an update has started. */
export function updateMigrations(
  vmi: VirtualMachineInstance,
  { migrations }: WorkloadView,
  { names }: WorkloadConfig,
): readonly VirtualMachineInstanceMigration[] {
  return migrations.filter(
    (migration) =>
      vmiKeyOf(migration) === keyOf(vmi) &&
      !isOver(migration) &&
      isSet(
        entry(at(migration, "metadata", "annotations"), names.annotations.workloadUpdateMigration),
      ),
  );
}

/**
 * How many migrations take up one of the cluster's places: those of updates do so even while they
 * wait for one.
 */
export function activeMigrations({ migrations }: WorkloadView, { names }: WorkloadConfig): number {
  const isUpdate = (migration: VirtualMachineInstanceMigration): boolean =>
    isSet(
      entry(at(migration, "metadata", "annotations"), names.annotations.workloadUpdateMigration),
    );
  const waiting = new Set([
    "",
    "Pending",
    "WaitingForSync",
    "Synchronizing",
    "Failed",
    "Succeeded",
  ]);
  return migrations.filter((migration) => {
    const phase = text(at(migration, "status", "phase"));
    // The sender of a migration to elsewhere does nothing while the receiver is being scheduled.
    const isSender = phase === "Scheduling" && isSet(at(migration, "spec", "sendTo"));
    return isUpdate(migration) ? !isOver(migration) : !waiting.has(phase) && !isSender;
  }).length;
}

/** Whether a change waits for a migration; a change of volumes has its own condition. */
export function changeOf(vmi: VirtualMachineInstance): "volumes" | "other" | undefined {
  const conditions = conditionsOf(vmi);
  if (hasCondition(conditions, "VolumesChange", "True")) return "volumes";
  const isChanging =
    findCondition(conditions, "HotVCPUChange") !== undefined ||
    hasCondition(conditions, "HotMemoryChange", "True") ||
    hasCondition(conditions, "MigrationRequired", "True");
  return isChanging ? "other" : undefined;
}

/** An unknown image will be known once the VMI runs or has migrated. */
function isOutdated(vmi: VirtualMachineInstance, launcherImage: string): boolean {
  const image = text(at(vmi, "status", "launcherContainerImageVersion"));
  return !isFinal(vmi) && image !== "" && image !== launcherImage;
}

function needsMigration(vmi: VirtualMachineInstance, config: WorkloadConfig, now: number): boolean {
  return !isMigrating({ vmi, now }) && !mustAbort(vmi, config) && changeOf(vmi) !== undefined;
}

/** Whether migrations that an update has started have lost their purpose. */
function isTakenBack(
  vmi: VirtualMachineInstance,
  view: WorkloadView,
  config: WorkloadConfig,
): boolean {
  if (updateMigrations(vmi, view, config).length === 0) return false;
  if (mustAbort(vmi, config)) return true;
  const isThere = isSet(at(vmi, "status", "migrationState", "targetNodeDomainReadyTimestamp"));
  return changeOf(vmi) === undefined && !isThere;
}

function mustAbort(vmi: VirtualMachineInstance, { names }: WorkloadConfig): boolean {
  const annotation = names.annotations.testMigrationAbortion;
  return isSet(entry(at(vmi, "metadata", "annotations"), annotation));
}

/** A VMI whose volumes are being moved can migrate with them, even if it could not without. */
function canMigrate(vmi: VirtualMachineInstance): boolean {
  const isMigratable = objects(at(vmi, "status", "conditions")).some(
    ({ type, status }) => type === "LiveMigratable" && status === "True",
  );
  const moved = at(vmi, "status", "migratedVolumes");
  const volumes = Array.isArray(moved) ? moved : [];
  return isMigratable || (volumes.length > 0 && !storageObstacle(vmi, volumes));
}

function isOver(migration: VirtualMachineInstanceMigration): boolean {
  return ["Failed", "Succeeded"].includes(text(at(migration, "status", "phase")));
}

function keyOf(vmi: VirtualMachineInstance): string {
  const { namespace, name } = nameOf(vmi);
  return `${namespace ?? ""}/${name}`;
}

function vmiKeyOf(migration: VirtualMachineInstanceMigration): string {
  return `${nameOf(migration).namespace ?? ""}/${text(at(migration, "spec", "vmiName"))}`;
}
