import type { Clock } from "@virtkit/api/clock";

/** The result of a pass: milliseconds after which to look again. */
export interface PassAnswer {
  readonly requeueAfter?: number;
}

/** Milliseconds until a pass that failed is tried again; the wait doubles up to the second figure. */
const [firstRetry, longestRetry] = [1_000, 16_000];

/** Passes over keys, one at a time; one that fails is tried again, later each time. */
export class Lane {
  readonly #clock: Clock;
  readonly #pass: (key: string) => Promise<PassAnswer | undefined>;
  readonly #mayBegin: (key: string) => boolean;
  readonly #waiting = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #timers = new Map<string, { readonly at: number; readonly timer: unknown }>();
  #isRunning = false;

  /** @param mayBegin whether what the process wrote in the last pass over a key has been seen. */
  constructor(
    clock: Clock,
    pass: (key: string) => Promise<PassAnswer | undefined>,
    mayBegin: (key: string) => boolean = () => true,
  ) {
    this.#clock = clock;
    this.#pass = pass;
    this.#mayBegin = mayBegin;
  }

  enqueue(key: string, after = 0): void {
    if (after > 0) {
      this.#later(key, this.#clock.now() + after);
      return;
    }
    this.#waiting.add(key);
    this.look();
  }

  /** As in a queue: of two planned looks at one key, only the earlier one takes place. */
  #later(key: string, at: number): void {
    const known = this.#timers.get(key);
    if (known && known.at <= at) return;
    if (known) this.#clock.clearTimeout(known.timer);
    const fire = (): void => {
      this.#timers.delete(key);
      this.enqueue(key);
    };
    const timer = this.#clock.setTimeout(fire, at - this.#clock.now());
    this.#timers.set(key, { at, timer });
  }

  /** Begins everything that waits and may begin now. */
  look(): void {
    if (this.#isRunning) return;
    for (const key of this.#waiting) {
      if (!this.#mayBegin(key)) continue;
      this.#waiting.delete(key);
      void this.#run(key);
      return;
    }
  }

  async #run(key: string): Promise<void> {
    this.#isRunning = true;
    try {
      const answer = await this.#pass(key);
      this.#failures.delete(key);
      if (answer?.requeueAfter !== undefined) this.enqueue(key, Math.max(1, answer.requeueAfter));
    } catch {
      // As in a queue. A failure shows in what does not happen.
      const failures = this.#failures.get(key) ?? 0;
      this.#failures.set(key, failures + 1);
      this.enqueue(key, Math.min(longestRetry, firstRetry * 2 ** failures));
    } finally {
      this.#isRunning = false;
      this.look();
    }
  }
}
