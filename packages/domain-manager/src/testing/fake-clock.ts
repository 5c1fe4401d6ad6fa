import type { Clock } from "../libvirt/rpc/clock.ts";

/** A clock that stands still until a test moves it; what is due by then happens in its order. */
export function fakeClock(): {
  readonly clock: Clock;
  readonly advance: (milliseconds: number) => Promise<void>;
  /** Timers that are set. */
  readonly pending: () => number;
} {
  let now = 0;
  let next = 1;
  const timers = new Map<number, { readonly at: number; readonly callback: () => void }>();
  const clock: Clock = {
    now: () => now,
    setTimeout: (callback, milliseconds) => {
      timers.set(next, { at: now + milliseconds, callback });
      return next++;
    },
    clearTimeout: (timer) => void timers.delete(timer as number),
  };
  const advance = async (milliseconds: number): Promise<void> => {
    const end = now + milliseconds;
    for (;;) {
      await settle();
      const [due] = [...timers]
        .filter(([, { at }]) => at <= end)
        .sort(([, one], [, other]) => one.at - other.at);
      if (!due) break;
      const [id, { at, callback }] = due;
      timers.delete(id);
      now = at;
      callback();
    }
    now = end;
    await settle();
  };
  return { clock, advance, pending: () => timers.size };
}

/** Lets everything that waits for nothing but its turn have it. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
}
