/** Delays that double from the first to the last, and start again after a time without failure. */
export class BackOff {
  readonly #first: number;
  readonly #last: number;
  #next: number;

  constructor(first: number, last: number) {
    this.#first = first;
    this.#last = last;
    this.#next = first;
  }

  /** The delay after a failure, given how long it had run. */
  after(ranFor: number): number {
    if (ranFor >= this.#last) this.#next = this.#first;
    const delay = this.#next;
    this.#next = Math.min(this.#next * 2, this.#last);
    return delay;
  }
}
