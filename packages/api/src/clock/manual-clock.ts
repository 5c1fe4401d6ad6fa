import type { Clock } from "./clock.ts";

declare function setTimeout(callback: () => void, milliseconds: number): unknown;
declare const setImmediate: ((callback: () => void) => unknown) | undefined;

/** A clock that moves only when it is advanced, for tests and simulations. */
export class ManualClock implements Clock {
  #now = 0;
  #count = 0;
  readonly #timers = new Map<number, { readonly at: number; readonly callback: () => void }>();

  /** How many timers are set. */
  get pending(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#now;
  }

  setTimeout(callback: () => void, milliseconds: number): unknown {
    const timer = ++this.#count;
    this.#timers.set(timer, { at: this.#now + milliseconds, callback });
    return timer;
  }

  clearTimeout(timer: unknown): void {
    this.#timers.delete(timer as number);
  }

  /** Lets this many milliseconds pass, timer by timer; what a timer starts is finished before the next one. */
  async pass(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds;
    await settled();
    for (let due = this.#due(end); due; due = this.#due(end)) {
      const [timer, { at, callback }] = due;
      this.#timers.delete(timer);
      this.#now = Math.max(this.#now, at);
      callback();
      await settled();
    }
    this.#now = end;
  }

  #due(end: number): [number, { at: number; callback: () => void }] | undefined {
    const all = [...this.#timers].filter(([, { at }]) => at <= end);
    return all.sort(([, one], [, other]) => one.at - other.at)[0];
  }
}

/** Runs everything that only waits for its turn. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) {
    await new Promise<void>((resolve) => {
      if (typeof setImmediate === "undefined") setTimeout(resolve, 0);
      else setImmediate(resolve);
    });
  }
}
