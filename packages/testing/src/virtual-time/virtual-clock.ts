import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "@virtkit/api/clock";

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly callback: () => void;
}

/**
 * A clock whose time passes only when there is nothing else left to do. Code that runs on it must wait only for
 * this clock and for promises of the same process; then a run depends only on its seed.
 */
export class VirtualClock implements Clock {
  #now = 0;
  #order = 0;
  readonly #heap: Timer[] = [];
  readonly #cleared = new WeakSet<Timer>();
  #pending = 0;

  /** How many timers are set. */
  get pending(): number {
    return this.#pending;
  }

  now(): number {
    return this.#now;
  }

  setTimeout(callback: () => void, milliseconds: number): unknown {
    const at = this.#now + Math.max(0, milliseconds);
    const timer = { at, order: ++this.#order, callback };
    this.#pending++;
    push(this.#heap, timer);
    return timer;
  }

  clearTimeout(timer: unknown): void {
    const known = timer as Timer;
    if (typeof timer !== "object" || timer === null || this.#cleared.has(known)) return;
    this.#cleared.add(known);
    this.#pending--;
  }

  /** Lets time pass, timer by timer; what a timer starts is done before the next one. */
  async pass(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds;
    await nextTurn();
    while (await this.#fireNext(end));
    this.#now = end;
  }

  /**
   * Lets time pass until a condition holds. Throws if it does not within so many milliseconds of virtual time.
   */
  async passUntil(holds: () => boolean, within = 3_600_000): Promise<void> {
    const end = this.#now + within;
    await nextTurn();
    while (!holds()) {
      if (await this.#fireNext(end)) continue;
      throw new Error(`the condition does not hold after ${within / 1000} s of virtual time`);
    }
  }

  /** Fires the earliest timer up to a time, and lets all that it starts have its turn. */
  async #fireNext(end: number): Promise<boolean> {
    for (;;) {
      const next = this.#heap[0];
      if (!next || next.at > end) return false;
      pop(this.#heap);
      if (this.#cleared.has(next)) continue;
      this.#cleared.add(next);
      this.#pending--;
      this.#now = next.at;
      next.callback();
      // Promises have all had their turn when the next turn of the event loop begins.
      await nextTurn();
      return true;
    }
  }
}

function isEarlier(one: Timer, other: Timer): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}

/** Adds to a binary heap. */
function push(heap: Timer[], timer: Timer): void {
  let index = heap.push(timer) - 1;
  while (index > 0) {
    const parent = (index - 1) >> 1;
    const above = heap[parent] as Timer;
    if (!isEarlier(timer, above)) break;
    heap[index] = above;
    heap[parent] = timer;
    index = parent;
  }
}

/** Takes the earliest out of a binary heap. */
function pop(heap: Timer[]): void {
  const last = heap.pop();
  if (!last || heap.length === 0) return;
  let index = 0;
  for (;;) {
    let child = 2 * index + 1;
    if (child >= heap.length) break;
    const right = heap[child + 1];
    if (right && isEarlier(right, heap[child] as Timer)) child++;
    const below = heap[child] as Timer;
    if (!isEarlier(below, last)) break;
    heap[index] = below;
    index = child;
  }
  heap[index] = last;
}
