/**
 * The choices of one schedule, drawn from a seed. Each is folded into a digest: two schedules with the same digest made the
 * same choices in the same order, except with a probability of about one in 10^16.
 */
export class Choices {
  #state: number;
  #low = 0x811c9dc5;
  #high = 0x9e3779b9;
  #count = 0;

  constructor(seed: number) {
    this.#state = mix((Math.imul(seed >>> 0, 0x9e3779b1) ^ (seed / 2 ** 32)) >>> 0);
  }

  /** A whole number from 0 to one below the bound. With a bound of one there is no choice. */
  below(bound: number): number {
    if (bound <= 1) return 0;
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    const chosen = Math.floor((mix(this.#state) / 2 ** 32) * bound);
    this.#fold(chosen);
    return chosen;
  }

  /** Whether something happens, on average once in this many times. */
  once(inTimes: number): boolean {
    return this.below(inTimes) === 0;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  /** How many choices were made. */
  get count(): number {
    return this.#count;
  }

  /** A whole number of 53 bits. */
  get digest(): number {
    return (this.#high & 0x1fffff) * 2 ** 32 + (this.#low >>> 0);
  }

  #fold(chosen: number): void {
    this.#count++;
    this.#low = Math.imul(this.#low ^ chosen, 0x01000193);
    this.#high = mix((this.#high + Math.imul(chosen + 1, 0x85ebca6b) + this.#count) >>> 0);
  }
}

/** Spreads the bits of a 32-bit number. */
function mix(value: number): number {
  let t = value;
  t = Math.imul(t ^ (t >>> 15), t | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return (t ^ (t >>> 14)) >>> 0;
}
