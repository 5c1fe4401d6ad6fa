import type { ConvergencePolicy } from "./convergence-policy.ts";
import type { StallDetection } from "./migration-options.ts";
import { estimatedDowntimeMs, type StallState } from "./stall-detector.ts";

/** What is done about a stalled migration. */
export type StallAction =
  /** Waits for a better moment. */
  | "nothing"
  | "postCopy"
  /** Lets QEMU stop the guest for as long as needed. */
  | "hardStopAndCopy"
  /** Lets QEMU stop the guest for as long as the policy allows. */
  | "softStopAndCopy"
  | "abort";

/** The moment of the question. */
export interface StallMoment {
  readonly remainingBytes: number;
  readonly elapsedSeconds: number;
  /** How long the whole migration may take, in seconds. */
  readonly completionSeconds: number;
}

/** What to do at an iteration of a stalled migration. */
export function stallAction(
  state: StallState,
  moment: StallMoment,
  policy: ConvergencePolicy,
  options: StallDetection,
): StallAction {
  if (state.acted) return "nothing";
  const aim = Math.trunc((state.search?.bestBytes ?? 0) * (1 + options.margin));
  if (options.searchLocalMinima && moment.remainingBytes > aim) return "nothing";
  const downtime = estimatedDowntimeMs(state, moment.remainingBytes);
  // A network that has just failed would keep the guest stopped.
  if (!canFinish(state, moment, options)) return "nothing";
  if (policy.allowWorkloadDisruption) {
    return policy.allowPostCopy && !policy.hasVfio ? "postCopy" : "hardStopAndCopy";
  }
  const tolerated = policy.maxDowntimeMs * Math.max(1, options.precopyPossibleFactor);
  return downtime <= tolerated ? "softStopAndCopy" : "abort";
}

/** Whether the remaining data can be sent before the last deadline. */
export function canFinish(
  state: StallState,
  { remainingBytes, elapsedSeconds, completionSeconds }: StallMoment,
  { completionTimeoutFactor }: StallDetection,
): boolean {
  if (state.bandwidth === 0) return false;
  const deadline = Math.trunc(completionSeconds * completionTimeoutFactor);
  const budgetMs = (deadline - Math.floor(elapsedSeconds)) * 1000;
  return estimatedDowntimeMs(state, remainingBytes) <= budgetMs;
}
