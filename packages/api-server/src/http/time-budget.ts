import type { Clock } from "@virtkit/api/clock";

/**
 * A signal that aborts when its time is up, or when another one aborts. Time runs from the start; the signal and
 * its timer are created when they are first requested, because most reviews are answered without waiting. Dispose
 * of it when the work is done.
 */
export class TimeBudget implements Disposable {
  readonly #clock: Clock;
  readonly #end: number;
  readonly #outer: AbortSignal | undefined;
  #signal: AbortSignal | undefined;
  #timer: unknown;

  constructor(clock: Clock, milliseconds: number, outer?: AbortSignal) {
    this.#clock = clock;
    this.#end = clock.now() + milliseconds;
    this.#outer = outer;
  }

  get signal(): AbortSignal {
    if (this.#signal) return this.#signal;
    const late = new AbortController();
    const abort = (): void => late.abort(new Error("it took too long"));
    const left = this.#end - this.#clock.now();
    if (left > 0) this.#timer = this.#clock.setTimeout(abort, left);
    else abort();
    this.#signal = this.#outer ? AbortSignal.any([this.#outer, late.signal]) : late.signal;
    return this.#signal;
  }

  [Symbol.dispose](): void {
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer);
  }
}
