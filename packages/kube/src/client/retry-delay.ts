import type { KubeError } from "./kube-error.ts";

/** A server that never has time is not asked for ever. */
const maxRetries = 10;
/** Where a server does not say how long, as a 429 of a proxy. */
const defaultSeconds = 1;

/**
 * Milliseconds until a refused request is repeated; undefined if it must not be. Only what a server asks to repeat
 * is: it has done nothing then.
 */
export function retryDelay(error: KubeError, retries: number): number | undefined {
  const { status = 0, retryAfterSeconds, causes } = error;
  const isOverload = status === 429 || (status >= 500 && retryAfterSeconds !== undefined);
  // An eviction that a budget forbids is a decision, not overload.
  const isDecision = causes.some(({ reason }) => reason === "DisruptionBudget");
  if (!isOverload || isDecision || retries >= maxRetries) return undefined;
  return Math.max(0, retryAfterSeconds ?? defaultSeconds) * 1_000;
}
