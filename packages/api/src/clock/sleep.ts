import type { Abortable } from "./abortable.ts";
import type { Clock } from "./clock.ts";

/**
 * Waits for a time, or until the signal is aborted. Removes its listener afterwards, since a signal may live for
 * years.
 */
export async function sleep(
  clock: Clock,
  milliseconds: number,
  signal?: Abortable | undefined,
): Promise<void> {
  if (signal?.aborted) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      clock.clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = clock.setTimeout(done, milliseconds);
    signal?.addEventListener("abort", done);
  });
}
