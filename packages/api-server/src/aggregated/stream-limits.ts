/** How many streams there may be at the same time. */
export interface StreamLimits {
  /** Per VMI. */
  readonly perVmi: number;
  readonly inAll: number;
}

/** Counts streams, so that nobody can fill the server, or keep others from their own VMI. */
export class StreamCount {
  readonly #limits: StreamLimits;
  readonly #counts = new Map<string, number>();
  #all = 0;

  constructor(limits: StreamLimits) {
    this.#limits = limits;
  }

  /** The number of streams. */
  get size(): number {
    return this.#all;
  }

  /** Takes a place for a stream of a VMI and returns a function that frees it; `undefined` if there is none. */
  take(vmi: string): (() => void) | undefined {
    const count = this.#counts.get(vmi) ?? 0;
    if (count >= this.#limits.perVmi || this.#all >= this.#limits.inAll) return undefined;
    this.#counts.set(vmi, count + 1);
    this.#all += 1;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#all -= 1;
      const left = (this.#counts.get(vmi) ?? 1) - 1;
      if (left === 0) this.#counts.delete(vmi);
      else this.#counts.set(vmi, left);
    };
  }
}
