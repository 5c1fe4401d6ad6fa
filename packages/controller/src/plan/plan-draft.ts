import type { Plan, PlanError, PlannedEvent, PlannedWrite } from "./plan.ts";
import type { Refusal, WriteOutcome } from "./write-outcome.ts";

/** A plan under construction. */
export class PlanDraft {
  readonly #outcomes: readonly WriteOutcome[];
  readonly #writes: PlannedWrite[] = [];
  readonly #events: PlannedEvent[] = [];
  #requeueAfterSeconds: number | undefined;

  /** @param outcomes of the first writes, as far as they are known; see `carryOut` */
  constructor(outcomes: readonly WriteOutcome[] = []) {
    this.#outcomes = outcomes;
  }

  /**
   * Plans a write. Returns why it is refused, if that is known; a write without a known outcome
   * counts as a success.
   */
  write(write: PlannedWrite): Refusal | undefined {
    const outcome = this.#outcomes[this.#writes.length];
    this.#writes.push(write);
    return outcome?.kind === "refused" ? outcome.refusal : undefined;
  }

  event(event: PlannedEvent): void {
    this.#events.push(event);
  }

  /** Looks again after this many seconds, or sooner if another rule wants that. */
  requeueAfter(seconds: number): void {
    this.#requeueAfterSeconds = Math.min(seconds, this.#requeueAfterSeconds ?? seconds);
  }

  finish(error?: PlanError): Plan {
    return {
      writes: this.#writes,
      events: this.#events,
      ...(this.#requeueAfterSeconds === undefined
        ? {}
        : { requeueAfterSeconds: this.#requeueAfterSeconds }),
      ...(error ? { error } : {}),
    };
  }
}
