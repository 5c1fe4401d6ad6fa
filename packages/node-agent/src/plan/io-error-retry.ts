/** When a guest that is paused by an I/O error was last resumed, and when it may be again. Milliseconds. */
export interface RetryState {
  readonly lastRun: number;
  readonly nextRun: number;
  readonly wait: number;
  readonly hasFailedSince: boolean;
}

/** First and longest wait between two attempts; a failure later than that after an attempt is a new failure. */
const [firstWait, longestWait, quietTime] = [10_000, 180_000, 30_000];

function begun(now: number): RetryState {
  return { lastRun: now, nextRun: now + firstWait, wait: firstWait, hasFailedSince: false };
}

/**
 * Whether to resume a guest now that is paused because of an I/O error. The first time at once; if it fails
 * again soon, after 10 s, then after twice as long each time, up to 3 minutes. `delay` is in milliseconds.
 */
export function retryAfterIoError(
  before: RetryState | undefined,
  now: number,
): { readonly state: RetryState; readonly delay?: number } {
  if (!before) return { state: begun(now) };
  const left = before.nextRun - now;
  if (!before.hasFailedSince) {
    if (before.lastRun + quietTime <= now) return { state: begun(now) };
    const state = { ...before, hasFailedSince: true };
    return left > 0 ? { state, delay: left } : { state };
  }
  if (left >= 0) return { state: before, delay: left };
  const wait = Math.min(before.wait * 2, longestWait);
  return { state: { lastRun: now, nextRun: now + wait, wait, hasFailedSince: false } };
}
