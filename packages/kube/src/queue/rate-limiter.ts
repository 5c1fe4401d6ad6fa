import { type Clock, realClock } from "@virtkit/api/clock";

/** Decides how long a key that failed must wait. */
export interface RateLimiter {
  /** Counts one more failure of the key, and says after how many milliseconds it may be tried again. */
  delay(key: string): number;
  /** Failures of the key since it was last forgotten. */
  failures(key: string): number;
  forget(key: string): void;
}

/** Options of {@link createRateLimiter}. */
export interface RateLimiterOptions {
  readonly clock?: Clock | undefined;
  /** After the first failure of a key, in milliseconds; doubled with each further one. By default 5. */
  readonly firstDelay?: number | undefined;
  /**
   * The longest one. By default 30 seconds: events also cause attempts, and each that fails counts, so a webhook that was
   * away for ten seconds would cost minutes otherwise. `perSecond` limits the load.
   */
  readonly lastDelay?: number | undefined;
  /** Retries of all keys together. By default 10. */
  readonly perSecond?: number | undefined;
  /** So many retries at once before `perSecond` counts. By default 100. */
  readonly burst?: number | undefined;
}

/**
 * An exponential delay for each key, and a token bucket for all keys together; the longer delay applies. If a
 * thousand objects fail at once, they are retried at `perSecond`, not all at once.
 */
export function createRateLimiter({
  clock = realClock,
  firstDelay = 5,
  lastDelay = 30_000,
  perSecond = 10,
  burst = 100,
}: RateLimiterOptions = {}): RateLimiter {
  const failures = new Map<string, number>();
  const interval = 1_000 / perSecond;
  /** When the bucket will be full again. */
  let fullAt = Number.NEGATIVE_INFINITY;
  const reserve = (): number => {
    const now = clock.now();
    fullAt = Math.max(fullAt, now) + interval;
    return Math.max(0, fullAt - now - burst * interval);
  };
  return {
    delay(key) {
      const before = failures.get(key) ?? 0;
      failures.set(key, before + 1);
      return Math.max(Math.min(firstDelay * 2 ** before, lastDelay), reserve());
    },
    failures: (key) => failures.get(key) ?? 0,
    forget: (key) => void failures.delete(key),
  };
}
