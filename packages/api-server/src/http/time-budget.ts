import type { Clock } from "@virtkit/api/clock";

/** A signal that ends when its time is up, or when another one ends. Dispose of it when the work is done. */
export class TimeBudget implements Disposable {
  readonly signal: AbortSignal;
  readonly #clock: Clock;
  readonly #timer: unknown;

  constructor(clock: Clock, milliseconds: number, outer?: AbortSignal) {
    const late = new AbortController();
    this.#clock = clock;
    this.#timer = clock.setTimeout(() => late.abort(new Error("it took too long")), milliseconds);
    this.signal = outer ? AbortSignal.any([outer, late.signal]) : late.signal;
  }

  [Symbol.dispose](): void {
    this.#clock.clearTimeout(this.#timer);
  }
}
