import { number, text } from "@virtkit/api/shape";
import { migrationPriority, requeueDelaySeconds } from "@virtkit/migration/policy";
import { apiError } from "../plan/api-error.ts";
import { nameOf } from "../plan/object-name.ts";
import type { PlanError } from "../plan/plan.ts";
import { created } from "../vmi/own-pods.ts";
import type { MigrationPass } from "./migration-pass.ts";

const byBackup = "migrationBlockedByBackup";
const byUtilityVolumes = "migrationBlockedByUtilityVolumes";

/**
 * Whether something keeps a migration from being scheduled, or a `PlanError` if that could not be
 * handled.
 */
export function isBlocked(pass: MigrationPass): boolean | PlanError {
  return waitForBackup(pass) || waitForUtilityVolumes(pass);
}

/** A backup reads the guest's disks where it runs. A migration that cannot wait ends it. */
function waitForBackup(pass: MigrationPass): boolean | PlanError {
  const { vmi, migration } = pass;
  const backup = vmi.status?.changedBlockTracking?.backupStatus;
  if (!backup?.backupName || backup.completed) {
    pass.removeCondition(byBackup);
    return false;
  }
  const isCritical = migration.spec?.priority === "system-critical";
  if (isCritical && !pass.condition(byBackup)) {
    const failure = abortBackup(pass, backup);
    if (failure) return failure;
  }
  const what = isCritical ? "is being stopped" : "must finish first";
  pass.setCondition({
    type: byBackup,
    status: "True",
    reason: "BackupInProgress",
    message: `backup ${backup.backupName} ${what}`,
  });
  pass.wait(requeueDelaySeconds(migrationPriority(migration)));
  return true;
}

function abortBackup(
  pass: MigrationPass,
  {
    backupName,
    startTimestamp,
  }: { readonly backupName?: string; readonly startTimestamp?: string },
): PlanError | undefined {
  const { vmi, draft, resources } = pass;
  const refusal = draft.write({
    kind: "call",
    resource: resources.vmis,
    object: nameOf(vmi),
    subresource: "backup",
    body: { backupName, cmd: "Abort", backupStartTime: startTimestamp ?? null },
  });
  if (refusal) {
    const message = `backup ${text(backupName)} could not be stopped: ${refusal.message}`;
    pass.event("Warning", "BackupAbortFailed", message);
    return apiError(refusal);
  }
  pass.event("Normal", "BackupAbortedForMigration", `backup ${text(backupName)} is being stopped`);
  return undefined;
}

/**
 * Utility volumes, for example for backups, do not move with a guest: they have this much time to
 * be detached.
 */
function waitForUtilityVolumes(pass: MigrationPass): boolean {
  const { vmi, migration, now } = pass;
  const volumes = vmi.spec.utilityVolumes ?? [];
  if (volumes.length === 0) {
    pass.removeCondition(byUtilityVolumes);
    return false;
  }
  const waited = Math.max(0, Math.floor(now / 1000) - Math.floor(created(migration) / 1000));
  const left = utilityVolumesTimeout(pass) - waited;
  const names = volumes.map(({ name }) => name).join(", ");
  if (left <= 0) {
    pass.status = { ...pass.status, phase: "Failed" };
    const message = `utility volumes (${names}) are still attached after ${waited} seconds`;
    pass.event("Warning", "FailedMigration", message);
    return true;
  }
  const message = `waiting up to ${left} seconds for utility volumes to be detached: ${names}`;
  pass.event("Warning", "UtilityVolumeMigrationPending", message);
  if (!pass.condition(byUtilityVolumes)) {
    const reason = "UtilityVolumesPresent";
    pass.setCondition({ type: byUtilityVolumes, status: "True", reason, message });
  }
  pass.recheck(left);
  return true;
}

const defaultTimeoutSeconds = 150;

function utilityVolumesTimeout({ migration, names, config }: MigrationPass): number {
  const configured = number(config.cluster.migrations.utilityVolumesTimeout, defaultTimeoutSeconds);
  const own = migration.metadata?.annotations?.[names.annotations.migrationUtilityVolumesTimeout];
  return own !== undefined && /^[+-]?\d+$/.test(own) ? Number(own) : configured;
}
