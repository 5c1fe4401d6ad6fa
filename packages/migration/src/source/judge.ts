import type { ConvergencePolicy } from "./convergence-policy.ts";
import { judgeByTime } from "./judge-by-time.ts";
import { judgeStall, noStall, type StallJudgement } from "./judge-stall.ts";
import type { MigrationProgress } from "./migration-progress.ts";
import type { Verdict } from "./verdict.ts";

/** What is remembered about a migration to judge it: bounded, however long it takes. */
export interface Convergence {
  readonly last: MigrationProgress | undefined;
  /** When data last moved. */
  readonly movedAtMs: number;
  /** The shortest time that sending what remained at the start of an iteration would have taken. */
  readonly bestMs: number | undefined;
  /** When that became clearly less, or the guest was slowed down further. */
  readonly improvedAtMs: number;
  /** Iterations that have begun since. */
  readonly idleIterations: number;
  /** Whether QEMU has been allowed the policy's downtime. */
  readonly hasDowntime: boolean;
  readonly stall: StallJudgement;
  readonly verdict: Verdict;
}

export const notJudged: Convergence = {
  last: undefined,
  movedAtMs: 0,
  bestMs: undefined,
  improvedAtMs: 0,
  idleIterations: 0,
  hasDowntime: false,
  stall: noStall,
  verdict: { action: "go-on" },
};

/** An improvement below this share of the best is noise. */
const margin = 0.04;

/**
 * Data that has not moved for this long may be stalled for good. libvirt updates the counters eight times per
 * second.
 */
const stillMs = 5_000;

/** One bad iteration may be a coincidence, and a large guest needs minutes for each. */
const iterationsToTell = 3;

/**
 * What to do with a migration, given its samples, oldest first. If no data moves for the progress
 * timeout, the verdict is `abort`. Only iterations show whether a migration converges. The measure is how long
 * it would take, at the measured bandwidth, to send what remained when each iteration began. If this has not
 * clearly decreased for the progress timeout and for three iterations, the migration does not converge, however
 * much the remaining data varies within an iteration. It is then treated as out of time, unless the downtime that
 * the policy allows is enough to complete it. Slowing the guest down further, by auto-converge, counts as progress.
 * The first iteration, which sends all memory once, shows nothing. While no data moves, a guest is neither paused
 * nor switched to post-copy.
 */
export function judge(history: readonly MigrationProgress[], policy: ConvergencePolicy): Verdict {
  let known = notJudged;
  for (const progress of history) known = judgeNext(known, progress, policy);
  return known.verdict;
}

/** Like {@link judge}, one step at a time. */
export function judgeNext(
  before: Convergence,
  progress: MigrationProgress,
  policy: ConvergencePolicy,
): Convergence {
  if (policy.stallDetection) {
    const stall = judgeStall(before.stall, progress, policy, policy.stallDetection);
    return { ...before, last: progress, stall, verdict: stall.verdict };
  }
  const known = remember(before, progress);
  const idleMs = progress.elapsedMs - known.movedAtMs;
  const isStill = idleMs > stillMs;
  const tells = progress.mode === "PreCopy" && !isStill;
  const converging = !tells || isConverging(known, progress, policy);
  if (!converging && !known.hasDowntime && fitsDowntime(progress, policy)) {
    const { maxDowntimeMs } = policy;
    const reason = `the remaining data fits into the allowed downtime of ${maxDowntimeMs} ms`;
    const verdict: Verdict = { action: "set-downtime", maxDowntimeMs, reason };
    // It gets the time to use it.
    const patience = { improvedAtMs: progress.elapsedMs, idleIterations: 0 };
    return { ...known, ...patience, hasDowntime: true, verdict };
  }
  const factor = progress.mode === "Paused" ? 2 : 1;
  const verdict = judgeByTime(
    {
      mode: progress.mode,
      elapsedSeconds: progress.elapsedMs / 1000,
      idleSeconds: idleMs / 1000,
      completionSeconds: policy.completionSeconds * factor,
      converging,
    },
    // Over a dead link, post-copy and a pause only add to the harm.
    isStill ? { ...policy, allowWorkloadDisruption: false } : policy,
  );
  return { ...known, verdict };
}

function remember(before: Convergence, progress: MigrationProgress): Convergence {
  const { last } = before;
  const { elapsedMs, iteration, throttlePercent } = progress;
  const moved =
    !progress.isStale &&
    (progress.transferred !== last?.transferred || progress.remaining !== last?.remaining);
  const known = { ...before, last: progress, movedAtMs: moved ? elapsedMs : before.movedAtMs };
  if (iteration <= 1) return { ...known, improvedAtMs: elapsedMs };
  if (throttlePercent > (last?.throttlePercent ?? 0)) {
    return { ...known, improvedAtMs: elapsedMs, idleIterations: 0 };
  }
  if (iteration === last?.iteration) return known;
  const neededMs = timeToSend(progress);
  if (known.bestMs === undefined || neededMs < known.bestMs * (1 - margin)) {
    return { ...known, bestMs: neededMs, improvedAtMs: elapsedMs, idleIterations: 0 };
  }
  return { ...known, idleIterations: known.idleIterations + 1 };
}

function timeToSend({ remainingAtStart, bytesPerSecond }: MigrationProgress): number {
  if (remainingAtStart === 0) return 0;
  return bytesPerSecond > 0 ? (remainingAtStart / bytesPerSecond) * 1000 : Number.POSITIVE_INFINITY;
}

function isConverging(
  { improvedAtMs, idleIterations }: Convergence,
  { elapsedMs }: MigrationProgress,
  { progressSeconds }: ConvergencePolicy,
): boolean {
  if (progressSeconds === 0 || idleIterations < iterationsToTell) return true;
  return elapsedMs - improvedAtMs <= progressSeconds * 1000;
}

function fitsDowntime(progress: MigrationProgress, { maxDowntimeMs }: ConvergencePolicy): boolean {
  return timeToSend(progress) <= maxDowntimeMs;
}
