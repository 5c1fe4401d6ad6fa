import type { ProbeStatus } from "@virtkit/domain-manager";

/** What one check of a probe found. */
export type ProbeOutcome =
  | { readonly ok: true }
  /** `message`: the reason of a failure, for people. */
  | { readonly ok: false; readonly message: string };

/** How many equal outcomes in a row it takes. */
export interface ProbeThresholds {
  readonly success: number;
  readonly failure: number;
}

/** The state of a probe after its checks so far. */
export interface ProbeState extends ProbeStatus {
  /** Equal outcomes in a row; below 0 for failures. */
  readonly streak: number;
}

/** A probe before its first check: not ready, and not dead either. */
export const untried: ProbeState = { state: "pending", streak: 0 };

/**
 * The state after one more check, as a kubelet counts: a state changes once its threshold of equal outcomes
 * in a row is reached, and stays what it is until then.
 */
export function afterCheck(
  { state, streak }: ProbeState,
  outcome: ProbeOutcome,
  { success, failure }: ProbeThresholds,
): ProbeState {
  if (outcome.ok) {
    const passes = Math.max(streak, 0) + 1;
    return { state: passes >= success ? "passing" : state, streak: passes };
  }
  const failures = Math.max(-streak, 0) + 1;
  return {
    state: failures >= failure ? "failing" : state,
    streak: -failures,
    message: outcome.message,
  };
}
