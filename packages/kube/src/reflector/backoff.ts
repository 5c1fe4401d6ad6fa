import { type Random, realRandom } from "@virtkit/api/random";

/** How long to wait between attempts. */
export interface BackoffOptions {
  /** Milliseconds before the second attempt. By default 500. */
  readonly min?: number | undefined;
  /** By default 30 seconds. */
  readonly max?: number | undefined;
  readonly random?: Random | undefined;
}

/** Delays that double, each reduced by a random part of up to a half, so that many clients do not retry at once. */
export class Backoff {
  readonly #min: number;
  readonly #max: number;
  readonly #random: Random;
  #attempt = 0;

  constructor({ min = 500, max = 30_000, random = realRandom }: BackoffOptions = {}) {
    this.#min = min;
    this.#max = max;
    this.#random = random;
  }

  /** Milliseconds until the next attempt, at least as many as the server asked for. */
  next(atLeast = 0): number {
    const full = Math.min(this.#max, this.#min * 2 ** this.#attempt);
    if (full < this.#max) this.#attempt++;
    return Math.max(atLeast, full * (1 - this.#random.number() / 2));
  }

  reset(): void {
    this.#attempt = 0;
  }
}
