import type { VirtualMachineInstanceMigration } from "@virtkit/api/schema";
import { objects, text } from "@virtkit/api/shape";
import { created } from "../vmi/own-pods.ts";
import { migrationsOfVmi } from "./collect-garbage.ts";
import type { MigrationPass } from "./migration-pass.ts";
import { phaseOf } from "./migration-phase.ts";

const firstDelaySeconds = 20;

/**
 * Whether an automatic migration waits because the last ones of its kind failed: 20 seconds after
 * the first failure, twice as long after each further one.
 */
export function isBackingOff(pass: MigrationPass): boolean {
  const { migration, names, now } = pass;
  if (migration.metadata?.annotations?.[names.annotations.testIgnoreBackOff] !== undefined) {
    return false;
  }
  if (!isAutomatic(pass, migration)) return false;
  const [newest, ...earlier] = migrationsOfVmi(pass)
    .filter((each) => isAutomatic(pass, each))
    .sort((a, b) => created(b) - created(a));
  if (newest?.metadata?.uid !== pass.uid) return false;
  const failures = countFailures(earlier);
  if (failures === 0) return false;
  const end = failedAt(earlier[0]) + firstDelaySeconds * 1000 * 2 ** (failures - 1);
  if (end <= now) return false;
  pass.recheck((end - now) / 1000);
  const name = text(pass.vmi.metadata?.name);
  const message = `migrations of VMI ${name} failed ${failures} times in a row; the next one waits`;
  pass.vmiEvent("Warning", "MigrationBackoff", message);
  return true;
}

function isAutomatic(
  { names }: MigrationPass,
  { metadata }: VirtualMachineInstanceMigration,
): boolean {
  const { evacuationMigration, workloadUpdateMigration } = names.annotations;
  const own = metadata?.annotations ?? {};
  return own[evacuationMigration] !== undefined || own[workloadUpdateMigration] !== undefined;
}

/** How many failed since the last success. Migrations that somebody deleted do not count. */
function countFailures(newestFirst: readonly VirtualMachineInstanceMigration[]): number {
  let failures = 0;
  for (const each of newestFirst) {
    if (phaseOf(each) === "Succeeded") break;
    if (!each.metadata?.deletionTimestamp && phaseOf(each) === "Failed") failures += 1;
  }
  return failures;
}

/** When a migration failed; long ago if that is unknown. */
function failedAt(migration: VirtualMachineInstanceMigration | undefined): number {
  const failed = objects(migration?.status?.phaseTransitionTimestamps).find(
    ({ phase }) => phase === "Failed",
  );
  const time = Date.parse(text(failed?.["phaseTransitionTimestamp"]));
  return Number.isNaN(time) ? Number.NEGATIVE_INFINITY : time;
}
