import type { Clock } from "@virtkit/api/clock";

interface Delay {
  readonly key: string;
  readonly at: number;
  /** Replaced by an earlier one. */
  isStale: boolean;
}

/** Keys that become due: one timer for all of them; of two delays for a key, the earlier one counts. */
export class Delays {
  /** A binary heap: the earliest first. */
  readonly #heap: Delay[] = [];
  readonly #byKey = new Map<string, Delay>();
  readonly #clock: Clock;
  readonly #due: (key: string) => void;
  #timer: { readonly handle: unknown; readonly at: number } | undefined;

  constructor(clock: Clock, due: (key: string) => void) {
    this.#clock = clock;
    this.#due = due;
  }

  get size(): number {
    return this.#byKey.size;
  }

  set(key: string, milliseconds: number): void {
    const at = this.#clock.now() + milliseconds;
    const known = this.#byKey.get(key);
    if (known) {
      if (known.at <= at) return;
      known.isStale = true;
    }
    const delay = { key, at, isStale: false };
    this.#byKey.set(key, delay);
    this.#push(delay);
    this.#arm();
  }

  clear(): void {
    this.#heap.length = 0;
    this.#byKey.clear();
    this.#arm();
  }

  #fire(): void {
    this.#timer = undefined;
    const now = this.#clock.now();
    for (let first = this.#first(); first && first.at <= now; first = this.#first()) {
      this.#pop();
      this.#byKey.delete(first.key);
      this.#due(first.key);
    }
    this.#arm();
  }

  #arm(): void {
    const first = this.#first();
    if (this.#timer && this.#timer.at === first?.at) return;
    if (this.#timer) this.#clock.clearTimeout(this.#timer.handle);
    this.#timer = undefined;
    if (!first) return;
    const wait = Math.max(0, first.at - this.#clock.now());
    // A Node timer of more than 2^31 ms does not wait at all, so a longer one is split.
    const handle = this.#clock.setTimeout(() => this.#fire(), Math.min(wait, 2 ** 31 - 1));
    this.#timer = { handle, at: first.at };
  }

  #first(): Delay | undefined {
    while (this.#heap[0]?.isStale) this.#pop();
    return this.#heap[0];
  }

  #push(delay: Delay): void {
    const heap = this.#heap;
    let place = heap.length;
    heap.push(delay);
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = heap[parent] as Delay;
      if (above.at <= delay.at) break;
      heap[place] = above;
      place = parent;
    }
    heap[place] = delay;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let place = 0;
    for (;;) {
      const left = 2 * place + 1;
      const right = left + 1;
      const child =
        (heap[right]?.at ?? Number.POSITIVE_INFINITY) < (heap[left]?.at ?? Number.POSITIVE_INFINITY)
          ? right
          : left;
      const below = heap[child];
      if (!below || below.at >= last.at) break;
      heap[place] = below;
      place = child;
    }
    heap[place] = last;
  }
}
