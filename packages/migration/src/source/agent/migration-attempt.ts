import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { MigrationAttempt } from "../../migrating-domain.ts";
import { MigrationError } from "../../migration-error.ts";

/** The UID of a VMI's migration, as seen by the source; empty if there is none. */
export function migrationUidOf({ status }: VirtualMachineInstance): string {
  const { sourceState, migrationUid } = status?.migrationState ?? {};
  return (sourceState ? sourceState.migrationUID : migrationUid) ?? "";
}

/**
 * The attempt that a launcher makes next; the last one if it is this very migration and still runs.
 *
 * @throws MigrationError `MIGRATION_NOT_NOW` if it is over: a migration is tried once.
 */
export function beginAttempt(
  last: MigrationAttempt | undefined,
  uid: string,
  now: string,
): MigrationAttempt {
  if (last?.uid !== uid) return { uid, startTimestamp: now, mode: "PreCopy" };
  if (last.endTimestamp === undefined) return last;
  const outcome = last.failed ? "failed" : "succeeded";
  const message = `migration ${uid} was tried and ${outcome} at ${last.endTimestamp}; create a new one`;
  throw new MigrationError("MIGRATION_NOT_NOW", message, { path: "status.migrationState" });
}

/** An attempt that is over. The first outcome stays; a reason counts only for a failure. */
export function endAttempt(
  attempt: MigrationAttempt,
  outcome: { readonly failed: boolean; readonly reason?: string; readonly now: string },
): MigrationAttempt {
  if (attempt.endTimestamp !== undefined) return attempt;
  if (!outcome.failed) return { ...attempt, endTimestamp: outcome.now };
  const failureReason = explain(outcome.reason ?? "");
  return { ...attempt, failed: true, failureReason, endTimestamp: outcome.now };
}

/** What libvirt says, in words that say what to do. */
function explain(reason: string): string {
  if (reason.includes("canceled by client")) return "the migration was aborted";
  const words = reason.split(/\s+/).join(" ");
  if (words.includes("has to be smaller or equal to the actual size of the containing file")) {
    return `a volume at the target is smaller than the one copied to it: ${reason}`;
  }
  return reason;
}
