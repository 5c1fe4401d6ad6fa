import type { Clock } from "../clock.ts";

/** Time that passes only when it is told to, and then all that is due happens in order. */
export class ManualClock implements Clock {
  #now = 0;
  #next = 1;
  readonly #timers = new Map<number, { readonly at: number; readonly callback: () => void }>();

  now(): number {
    return this.#now;
  }

  setTimeout(callback: () => void, milliseconds: number): unknown {
    this.#timers.set(this.#next, { at: this.#now + milliseconds, callback });
    return this.#next++;
  }

  clearTimeout(timer: unknown): void {
    this.#timers.delete(timer as number);
  }

  /** Lets time pass; after each timer everything that follows from it happens first. */
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

async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}
