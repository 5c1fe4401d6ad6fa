import { isOutOfTime } from "../policy/completion-timeout.ts";
import type { ConvergencePolicy } from "./convergence-policy.ts";
import { largestDowntimeMs, type Verdict } from "./verdict.ts";

/** How memory is being transferred, in the terms of the VMI's status. */
export type MigrationMode = "PreCopy" | "Paused" | "PostCopy";

/** What is known about a running migration. */
export interface TimedMigration {
  readonly mode: MigrationMode;
  readonly elapsedSeconds: number;
  /** Seconds since the last progress. */
  readonly idleSeconds: number;
  /** How long the whole migration may take by now: after a pause, longer than at the start. */
  readonly completionSeconds: number;
  /** `false` if it is clear before its deadline that it does not converge. */
  readonly converging?: boolean;
}

/**
 * What to do with a migration, judged by its duration. A post-copy migration is never given up, because the guest's
 * memory is in two places. When time is up, a guest that may be interrupted switches to post-copy, or is paused and
 * gets the same time again. Without progress, or out of time in any other case, the migration is aborted.
 */
export function judgeByTime(migration: TimedMigration, policy: ConvergencePolicy): Verdict {
  const { mode, completionSeconds, converging = true } = migration;
  if (mode === "PostCopy") return { action: "go-on" };
  const elapsed = Math.floor(migration.elapsedSeconds);
  const idle = Math.floor(migration.idleSeconds);
  const outOfTime = isOutOfTime(elapsed, completionSeconds);
  const reason = outOfTime
    ? `not complete after ${elapsed} of ${completionSeconds} seconds`
    : `the remaining data has not decreased for ${policy.progressSeconds} seconds`;
  const mustEnd = outOfTime || !converging;
  if (mustEnd && policy.allowWorkloadDisruption && mode === "PreCopy") {
    return disturb(policy, completionSeconds, reason);
  }
  if (policy.progressSeconds !== 0 && idle > policy.progressSeconds) {
    return { action: "abort", reason: `no data moved for ${idle} seconds` };
  }
  return mustEnd ? { action: "abort", reason } : { action: "go-on" };
}

function disturb(policy: ConvergencePolicy, seconds: number, reason: string): Verdict {
  const completionSeconds = seconds * 2;
  if (policy.hasVfio) {
    // Suspending stops only the CPUs; only QEMU's own switchover stops the devices as well.
    const limit = completionSeconds === 0 ? largestDowntimeMs : completionSeconds * 1000;
    const maxDowntimeMs = Math.min(limit, largestDowntimeMs);
    return { action: "set-downtime", maxDowntimeMs, completionSeconds, reason };
  }
  if (policy.allowPostCopy) return { action: "postcopy", reason };
  return { action: "pause", completionSeconds, reason };
}
