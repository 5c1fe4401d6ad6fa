import type { Clock } from "../libvirt/rpc/clock.ts";

/** A clock that stands still until it is told to go on. */
export class ManualClock implements Clock {
  #now = 0;
  #timers = new Map<number, { at: number; callback: () => void }>();
  #count = 0;

  /** How many timers are set. */
  get pending(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#now;
  }

  setTimeout(callback: () => void, milliseconds: number): number {
    const timer = ++this.#count;
    this.#timers.set(timer, { at: this.#now + milliseconds, callback });
    return timer;
  }

  clearTimeout(timer: unknown): void {
    this.#timers.delete(timer as number);
  }

  /** Lets so many milliseconds pass, timer by timer; what a timer starts is done before the next one. */
  async pass(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds;
    await settled();
    for (;;) {
      const due = [...this.#timers].filter(([, { at }]) => at <= end);
      const [first] = due.sort(([, a], [, b]) => a.at - b.at);
      if (!first) break;
      const [timer, { at, callback }] = first;
      this.#timers.delete(timer);
      this.#now = Math.max(this.#now, at);
      callback();
      await settled();
    }
    this.#now = end;
  }
}

/** Lets everything that waits for nothing but its turn have its turn. */
async function settled(): Promise<void> {
  for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve));
}
