import type { VirtualMachineInstanceMigrationState } from "@virtkit/api/schema";
import type { MigrationReport } from "@virtkit/launcher/client";
import type { MigrationAttempt } from "@virtkit/migration/source/agent";

/** What a launcher reports about a migration: `unbegun` if it takes no part in it. */
export type LauncherWord = MigrationReport | "unbegun";

/** Whether a launcher takes part in a migration that has not ended. */
export function isUnderWay(word: LauncherWord | undefined): word is MigrationReport {
  return word !== undefined && word !== "unbegun" && word.settled === undefined;
}

/**
 * A source's report in the terms of the VMI's status. It has failed only once its guest is known to continue: a new
 * migration could not begin before that.
 */
export function sourceAttempt(
  report: MigrationReport,
  state: VirtualMachineInstanceMigrationState | undefined,
  now: number,
): MigrationAttempt {
  const { migrationUID, decision, outcome, settled, why } = report;
  const isPostCopy = decision === "committed" || report.progress?.mode === "PostCopy";
  const begun: MigrationAttempt = {
    uid: migrationUID,
    // A launcher of an earlier release does not report when it began.
    startTimestamp: state?.startTimestamp ?? timeOf(first(report) ?? now),
    mode: report.progress?.mode ?? (isPostCopy ? "PostCopy" : "PreCopy"),
  };
  if (settled === undefined || outcome === "moved") return begun;
  return {
    ...begun,
    failed: true,
    endTimestamp: state?.endTimestamp ?? timeOf(last(report) ?? now),
    failureReason: why ?? "the launcher gives no reason why the guest did not move",
    ...(state?.abortRequested ? { abortStatus: "Succeeded" } : {}),
  };
}

/** When a launcher began, in ms since 1970. */
export function first({ times = {} }: MigrationReport): number | undefined {
  const all = Object.values(times);
  return all.length > 0 ? Math.min(...all) : undefined;
}

function last({ times = {} }: MigrationReport): number | undefined {
  const all = Object.values(times);
  return all.length > 0 ? Math.max(...all) : undefined;
}

/** As objects of the API write it. */
export function timeOf(milliseconds: number | undefined): string | undefined {
  if (milliseconds === undefined || !Number.isFinite(milliseconds)) return undefined;
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}
