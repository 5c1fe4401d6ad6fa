import { isOutOfTime } from "../policy/completion-timeout.ts";
import type { ConvergencePolicy } from "./convergence-policy.ts";
import type { StallDetection } from "./migration-options.ts";
import type { MigrationProgress } from "./migration-progress.ts";
import { canFinish, stallAction } from "./stall-action.ts";
import { noIterations, type StallState, withBandwidth, withIteration } from "./stall-detector.ts";
import { largestDowntimeMs, type Verdict } from "./verdict.ts";

/** What is remembered to judge a migration by KubeVirt's stall detection. */
export interface StallJudgement {
  readonly detector: StallState;
  readonly iteration: number;
  readonly remainingBytes: number;
  /** When the last step must be over, in seconds; the policy's deadline until something is done. */
  readonly switchoverSeconds: number | undefined;
  /** How long the whole migration may take by now, in seconds. */
  readonly completionSeconds: number | undefined;
  readonly verdict: Verdict;
}

export const noStall: StallJudgement = {
  detector: noIterations,
  iteration: 0,
  remainingBytes: 0,
  switchoverSeconds: undefined,
  completionSeconds: undefined,
  verdict: { action: "go-on" },
};

/** What to do with a migration by its iterations, if the cluster uses stall detection. */
export function judgeStall(
  before: StallJudgement,
  progress: MigrationProgress,
  policy: ConvergencePolicy,
  options: StallDetection,
): StallJudgement {
  const seen = progress.isStale ? before : observe(before, progress, policy, options);
  if (seen.verdict.action !== "go-on") return seen;
  return judgeTimeout(seen, progress, policy, options);
}

function observe(
  before: StallJudgement,
  progress: MigrationProgress,
  policy: ConvergencePolicy,
  options: StallDetection,
): StallJudgement {
  const known: StallJudgement = { ...before, verdict: { action: "go-on" } };
  const { iteration, mode, remaining: remainingBytes } = progress;
  if (iteration > before.iteration) {
    const record = { elapsedMs: progress.elapsedMs, remainingBytes };
    const { state: detector, stalled } = withIteration(before.detector, record, options);
    const next = { ...known, detector, iteration, remainingBytes };
    return stalled ? act(next, progress, policy, options) : next;
  }
  if (mode !== "PreCopy") return { ...known, remainingBytes };
  if (progress.momentaryBytesPerSecond === 0) return known;
  const detector = withBandwidth(before.detector, progress.momentaryBytesPerSecond, options);
  return { ...known, detector };
}

function act(
  known: StallJudgement,
  progress: MigrationProgress,
  policy: ConvergencePolicy,
  options: StallDetection,
): StallJudgement {
  const elapsedSeconds = progress.elapsedMs / 1000;
  const completionSeconds = known.completionSeconds ?? policy.completionSeconds;
  const moment = { remainingBytes: known.remainingBytes, elapsedSeconds, completionSeconds };
  const action = stallAction(known.detector, moment, policy, options);
  const reason = "the remaining data has stopped decreasing";
  const detector = { ...known.detector, acted: true };
  const switchoverSeconds = Math.floor(elapsedSeconds) + options.switchoverTimeout;
  switch (action) {
    case "nothing":
      return known;
    case "abort":
      return { ...known, detector, verdict: { action: "abort", reason } };
    case "postCopy":
      return { ...known, detector, verdict: { action: "postcopy", reason } };
    case "hardStopAndCopy":
    case "softStopAndCopy": {
      const maxDowntimeMs = action === "hardStopAndCopy" ? largestDowntimeMs : policy.maxDowntimeMs;
      const verdict: Verdict = { action: "set-downtime", maxDowntimeMs, reason };
      return { ...known, detector, switchoverSeconds, verdict };
    }
  }
}

function judgeTimeout(
  known: StallJudgement,
  { mode, elapsedMs }: MigrationProgress,
  policy: ConvergencePolicy,
  options: StallDetection,
): StallJudgement {
  const elapsedSeconds = Math.floor(elapsedMs / 1000);
  const completionSeconds = known.completionSeconds ?? policy.completionSeconds;
  const deadline =
    mode === "Paused" ? completionSeconds : (known.switchoverSeconds ?? completionSeconds);
  const isOver = completionSeconds !== 0 && isOutOfTime(elapsedSeconds, deadline);
  if (!isOver || mode === "PostCopy") return known;
  const reason = `not complete after ${elapsedSeconds} of ${deadline} seconds`;
  const moment = { remainingBytes: known.remainingBytes, elapsedSeconds, completionSeconds };
  if (!known.detector.acted && canFinish(known.detector, moment, options)) {
    const detector = { ...known.detector, acted: true };
    if (policy.allowPostCopy && !policy.hasVfio) {
      return { ...known, detector, verdict: { action: "postcopy", reason } };
    }
    if (policy.allowWorkloadDisruption) {
      return {
        ...known,
        detector,
        completionSeconds: Math.trunc(completionSeconds * options.completionTimeoutFactor),
        switchoverSeconds: elapsedSeconds + options.switchoverTimeout,
        verdict: { action: "set-downtime", maxDowntimeMs: largestDowntimeMs, reason },
      };
    }
  }
  return { ...known, verdict: { action: "abort", reason } };
}
