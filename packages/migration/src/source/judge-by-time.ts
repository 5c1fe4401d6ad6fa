import { isOutOfTime } from "../policy/completion-timeout.ts";
import type { ConvergencePolicy } from "./convergence-policy.ts";
import { largestDowntimeMs, type Verdict } from "./verdict.ts";

/** How memory is carried over at the moment, in the words of the VMI's status. */
export type MigrationMode = "PreCopy" | "Paused" | "PostCopy";

/** What is known of a migration that runs. */
export interface TimedMigration {
  readonly mode: MigrationMode;
  readonly elapsedSeconds: number;
  /** Seconds since the last progress. */
  readonly idleSeconds: number;
  /** How long all of it may take by now: after a pause, more than at the start. */
  readonly completionSeconds: number;
  /** `false` if it is clear before its time is up that it does not come to an end. */
  readonly converging?: boolean;
}

/**
 * What to do with a migration by how long it takes. In post-copy nothing is ever given up, since the
 * guest's memory is in two places. Out of time, a guest that may be disturbed is: post-copy, or it is
 * paused and gets as much time again. Without progress, or out of time anyhow, the migration is
 * aborted.
 */
export function judgeByTime(migration: TimedMigration, policy: ConvergencePolicy): Verdict {
  const { mode, completionSeconds, converging = true } = migration;
  if (mode === "PostCopy") return { action: "go-on" };
  const elapsed = Math.floor(migration.elapsedSeconds);
  const idle = Math.floor(migration.idleSeconds);
  const outOfTime = isOutOfTime(elapsed, completionSeconds);
  const reason = outOfTime
    ? `not complete after ${elapsed} of ${completionSeconds} seconds`
    : `what remains has not become less for ${policy.progressSeconds} seconds`;
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
    // Suspending stops the CPUs alone; only QEMU's own switchover stops the devices, too.
    const limit = completionSeconds === 0 ? largestDowntimeMs : completionSeconds * 1000;
    const maxDowntimeMs = Math.min(limit, largestDowntimeMs);
    return { action: "set-downtime", maxDowntimeMs, completionSeconds, reason };
  }
  if (policy.allowPostCopy) return { action: "postcopy", reason };
  return { action: "pause", completionSeconds, reason };
}
