import type { Clock } from "@virtkit/api/clock";
import type { Life } from "./life.ts";

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly callback: () => void;
  readonly life: Life | undefined;
}

/** A clock that stands still until the schedule lets its next timer fire. */
export class ScheduleClock implements Clock {
  #now = 0;
  #order = 0;
  #timers: Timer[] = [];

  now(): number {
    return this.#now;
  }

  setTimeout(callback: () => void, milliseconds: number): unknown {
    return this.#set(callback, milliseconds, undefined);
  }

  clearTimeout(timer: unknown): void {
    const index = this.#timers.indexOf(timer as Timer);
    if (index < 0) return;
    const last = this.#timers.pop() as Timer;
    if (index < this.#timers.length) this.#timers[index] = last;
  }

  /** The same time, for one process: its timers end with it. */
  of(life: Life): Clock {
    return {
      now: () => this.#now,
      setTimeout: (callback, milliseconds) => this.#set(callback, milliseconds, life),
      clearTimeout: (timer) => this.clearTimeout(timer),
    };
  }

  /** Milliseconds until the earliest timer; infinite if there is none. */
  get untilNext(): number {
    const first = this.#first();
    return first ? Math.max(0, first.at - this.#now) : Number.POSITIVE_INFINITY;
  }

  /** Fires the earliest timer, and lets time pass until then. False if there is none. */
  fireNext(): boolean {
    const first = this.#first();
    if (!first) return false;
    this.clearTimeout(first);
    this.#now = Math.max(this.#now, first.at);
    first.callback();
    return true;
  }

  #first(): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) {
      const isEarlier =
        !first || timer.at < first.at || (timer.at === first.at && timer.order < first.order);
      if (isEarlier) first = timer;
    }
    if (!first?.life?.isOver) return first;
    this.#timers = this.#timers.filter(({ life }) => !life?.isOver);
    return this.#first();
  }

  #set(callback: () => void, milliseconds: number, life: Life | undefined): Timer {
    const at = this.#now + Math.max(0, milliseconds);
    const timer = { at, order: ++this.#order, callback, life };
    this.#timers.push(timer);
    return timer;
  }
}
