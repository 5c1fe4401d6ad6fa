import type { Clock } from "@virtkit/api/clock";

/** How much of what a launcher reports its agent takes in. */
export interface PaceLimits {
  readonly atOnce: number;
  /** From then on. */
  readonly perSecond: number;
}

/**
 * Bounds how much of what one launcher reports is taken in: reading it costs time that the other guests of the node lack, so a
 * hostile one could keep its agent busy.
 */
export class Pace {
  readonly #limits: PaceLimits;
  readonly #clock: Clock;
  #left: number;
  #at: number;

  constructor(limits: PaceLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
    this.#left = limits.atOnce;
    this.#at = clock.now();
  }

  /** Takes one more. Returns for how many milliseconds that is too early; 0 as long as there are few. */
  take(): number {
    const { atOnce, perSecond } = this.#limits;
    const now = this.#clock.now();
    const earned = ((now - this.#at) / 1_000) * perSecond;
    this.#left = Math.min(atOnce, this.#left + earned) - 1;
    this.#at = now;
    return Math.max(0, (-this.#left / perSecond) * 1_000);
  }
}
