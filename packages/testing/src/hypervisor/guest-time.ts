import type { Clock } from "@virtkit/api/clock";

interface Waiting {
  left: number;
  since: number;
  timer: unknown;
  readonly act: () => void;
}

/** The time of a guest: it stops while its vCPUs are stopped. */
export class GuestTime {
  readonly #clock: Clock;
  readonly #waiting = new Set<Waiting>();
  #goes = false;
  /** Milliseconds of the guest's time up to when it last began or stopped. */
  #passed = 0;
  #since = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Does something after so many milliseconds of the guest's time. */
  after(milliseconds: number, act: () => void): void {
    const one: Waiting = { left: milliseconds, since: 0, timer: undefined, act };
    this.#waiting.add(one);
    if (this.#goes) this.#begin(one);
  }

  /** Milliseconds of the guest's time since it booted. */
  get passed(): number {
    return this.#passed + (this.#goes ? this.#clock.now() - this.#since : 0);
  }

  /** Takes over the time of a guest that comes from elsewhere. */
  set(passed: number): void {
    this.#passed = passed;
    this.#since = this.#clock.now();
  }

  go(): void {
    if (this.#goes) return;
    this.#goes = true;
    this.#since = this.#clock.now();
    for (const one of this.#waiting) this.#begin(one);
  }

  stop(): void {
    if (!this.#goes) return;
    this.#passed = this.passed;
    this.#goes = false;
    for (const one of this.#waiting) {
      this.#clock.clearTimeout(one.timer);
      one.left -= this.#clock.now() - one.since;
    }
  }

  /** Forgets all that was to happen. */
  clear(): void {
    for (const { timer } of this.#waiting) this.#clock.clearTimeout(timer);
    this.#waiting.clear();
    this.set(0);
  }

  #begin(one: Waiting): void {
    one.since = this.#clock.now();
    one.timer = this.#clock.setTimeout(() => {
      this.#waiting.delete(one);
      one.act();
    }, one.left);
  }
}
