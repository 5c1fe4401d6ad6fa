import type { Clock } from "@virtkit/api/clock";

/**
 * Ends a connection on which nothing has come for too long: a peer that vanished without a word looks like
 * one with nothing to say. The time that a consumer takes for an event does not count.
 */
export class SilenceGuard implements Disposable {
  readonly #clock: Clock;
  #limit: number;
  readonly #controller = new AbortController();
  readonly #stop: () => void;
  readonly #outer: AbortSignal;
  #waitingSince: number | undefined;
  #timer: unknown;
  #isSilent = false;

  constructor(clock: Clock, limit: number, outer: AbortSignal) {
    this.#clock = clock;
    this.#limit = limit;
    this.#outer = outer;
    this.#stop = () => this.#controller.abort(outer.reason);
    outer.addEventListener("abort", this.#stop);
    if (outer.aborted) this.#stop();
    this.waiting();
    this.#arm(limit);
  }

  /** Milliseconds of silence that are too many. */
  get limit(): number {
    return this.#limit;
  }

  /** Ends with the outer signal, or when the silence has lasted too long. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether it was the silence that ended it. */
  get isSilent(): boolean {
    return this.#isSilent;
  }

  /** From now on, this much silence is too much; before, it was less. */
  allow(limit: number): void {
    this.#limit = limit;
  }

  /** From now on something is expected. */
  waiting(): void {
    this.#waitingSince = this.#clock.now();
  }

  /** Something has come. */
  heard(): void {
    this.#waitingSince = undefined;
  }

  [Symbol.dispose](): void {
    this.#clock.clearTimeout(this.#timer);
    this.#outer.removeEventListener("abort", this.#stop);
    this.#controller.abort();
  }

  // One timer that looks back, instead of one that is set again with each event.
  #arm(milliseconds: number): void {
    this.#timer = this.#clock.setTimeout(() => {
      const silence = this.#waitingSince === undefined ? 0 : this.#clock.now() - this.#waitingSince;
      if (silence < this.#limit) {
        this.#arm(this.#limit - silence);
        return;
      }
      this.#isSilent = true;
      this.#controller.abort();
    }, milliseconds);
  }
}
