import type { KubeError } from "./kube-error.ts";

/** A server that never has time is not asked forever. */
const maxRetries = 10;
/** Where a server does not say how long, as a 429 of a proxy. */
const defaultSeconds = 1;

/**
 * Causes that are decisions, not overload: a budget forbids an eviction; a version is one that the server does not have
 * after waiting three seconds for it, and never may after a restore. Its caller knows what to do, as to list anew.
 */
const decisions: ReadonlySet<string> = new Set(["DisruptionBudget", "ResourceVersionTooLarge"]);

/**
 * Milliseconds until a refused request is repeated; undefined if it must not be. Only what a server asks to repeat
 * is: it has done nothing then.
 */
export function retryDelay(error: KubeError, retries: number): number | undefined {
  const { status = 0, retryAfterSeconds, causes } = error;
  const isOverload = status === 429 || (status >= 500 && retryAfterSeconds !== undefined);
  const isDecision = causes.some(({ reason }) => decisions.has(reason ?? ""));
  if (!isOverload || isDecision || retries >= maxRetries) return undefined;
  return Math.max(0, retryAfterSeconds ?? defaultSeconds) * 1_000;
}
