import type { Abortable } from "./abortable.ts";
import { type Clock, realClock } from "./clock.ts";
import { sleep } from "./sleep.ts";

/** Options of {@link until}: how often it checks, and for how long. */
export interface UntilOptions {
  readonly clock?: Clock | undefined;
  /** Milliseconds between the end of one check and the next. */
  readonly interval: number;
  /** Milliseconds after which it gives up. Default: never. */
  readonly timeout?: number;
  readonly signal?: Abortable | undefined;
}

/**
 * Checks a condition repeatedly until it holds. Resolves with the first result that is neither undefined nor false,
 * or with undefined after a last check that began when the time was over. With no time it checks once. If the
 * condition throws, or the signal is aborted, `until` rejects with that reason.
 *
 * @example
 * const ended = await until(() => guest.hasEnded(), { interval: 100, timeout: 20_000 });
 */
export async function until<T>(
  condition: () => T | undefined | false | Promise<T | undefined | false>,
  { clock = realClock, interval, timeout = Number.POSITIVE_INFINITY, signal }: UntilOptions,
): Promise<T | undefined> {
  const deadline = clock.now() + timeout;
  for (;;) {
    signal?.throwIfAborted();
    // Read before the check, which may take long: the last check must begin when the time is over.
    const isLast = clock.now() >= deadline;
    const found = await condition();
    if (found !== undefined && found !== false) return found;
    if (isLast) return undefined;
    await sleep(clock, interval, signal);
  }
}
