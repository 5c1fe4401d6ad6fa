import type { Clock } from "./clock.ts";

/**
 * Runs a function repeatedly in the background, without keeping the process alive. Returns a function that stops
 * it.
 */
export function every(clock: Clock, milliseconds: number, action: () => void): () => void {
  let timer: unknown;
  const wait = (): void => {
    timer = clock.setTimeout(() => {
      // Set first: an action that throws or stops it must find the next timer set.
      wait();
      action();
    }, milliseconds);
    clock.unref?.(timer);
  };
  wait();
  return () => clock.clearTimeout(timer);
}
