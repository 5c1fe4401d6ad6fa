import type { Clock } from "./clock.ts";

/** Does something again and again, in the background: it does not keep the process. Returns what stops it. */
export function every(clock: Clock, milliseconds: number, action: () => void): () => void {
  let timer: unknown;
  const wait = (): void => {
    timer = clock.setTimeout(() => {
      // Set first: an action that throws, or that stops it, must find the next one.
      wait();
      action();
    }, milliseconds);
    clock.unref?.(timer);
  };
  wait();
  return () => clock.clearTimeout(timer);
}
