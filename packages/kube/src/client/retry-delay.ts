import type { KubeError } from "./kube-error.ts";

/** A server that never has time is not asked forever. */
const maxRetries = 10;
/** Where a server does not say how long, as a 429 of a proxy. */
const defaultSeconds = 1;

/**
 * Causes that are decisions, not overload: a budget forbids an eviction; or the server does not have a
 * version after waiting three seconds for it, and after a restore may never have it. The caller knows what to
 * do, such as to list again.
 */
const decisions: ReadonlySet<string> = new Set(["DisruptionBudget", "ResourceVersionTooLarge"]);

/**
 * Milliseconds until a refused request is repeated; undefined if it must not be. Only requests that the
 * server asks to repeat are: those have had no effect.
 */
export function retryDelay(error: KubeError, retries: number): number | undefined {
  const { status = 0, retryAfterSeconds, causes } = error;
  const isOverload = status === 429 || (status >= 500 && retryAfterSeconds !== undefined);
  const isDecision = causes.some(({ reason }) => decisions.has(reason ?? ""));
  if (!isOverload || isDecision || retries >= maxRetries) return undefined;
  return Math.max(0, retryAfterSeconds ?? defaultSeconds) * 1_000;
}
