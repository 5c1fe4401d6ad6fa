import type { Clock } from "@virtkit/api/clock";

/** A clock for long simulations: like `ManualClock`, with one turn of the event loop per timer. */
export class VirtualClock implements Clock {
  #now = 0;
  #count = 0;
  readonly #timers = new Map<number, { readonly at: number; readonly callback: () => void }>();

  now(): number {
    return this.#now;
  }

  setTimeout(callback: () => void, milliseconds: number): unknown {
    this.#timers.set(++this.#count, { at: this.#now + milliseconds, callback });
    return this.#count;
  }

  clearTimeout(timer: unknown): void {
    this.#timers.delete(timer as number);
  }

  /** Lets time pass at once: work that timers start runs after all of them have fired. */
  passAtOnce(milliseconds: number): void {
    const end = this.#now + milliseconds;
    while (this.#fire(end));
    this.#now = end;
  }

  async pass(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds;
    do await turn();
    while (this.#fire(end));
    this.#now = end;
  }

  #fire(end: number): boolean {
    let next: number | undefined;
    let first = end;
    for (const [timer, { at }] of this.#timers) {
      if (at < first || (at === first && next === undefined)) {
        next = timer;
        first = at;
      }
    }
    const due = next === undefined ? undefined : this.#timers.get(next);
    if (next === undefined || !due) return false;
    this.#timers.delete(next);
    this.#now = Math.max(this.#now, due.at);
    due.callback();
    return true;
  }
}

/** Runs everything that only waits for its turn of the event loop. */
async function turn(): Promise<void> {
  await new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
}
