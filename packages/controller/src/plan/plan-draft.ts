import type { Plan, PlanError, PlannedEvent, PlannedWrite } from "./plan.ts";
import type { Refusal, WriteOutcome } from "./write-outcome.ts";

/** A plan under construction. */
export class PlanDraft {
  readonly #outcomes: readonly WriteOutcome[];
  readonly #writes: PlannedWrite[] = [];
  readonly #events: PlannedEvent[] = [];
  #requeueAfterSeconds: number | undefined;

  /** @param outcomes what is known already of the first writes, see `carryOut`. */
  constructor(outcomes: readonly WriteOutcome[] = []) {
    this.#outcomes = outcomes;
  }

  /** Plans a write. Says why it is refused, if that is known; a write of which nothing is known succeeds. */
  write(write: PlannedWrite): Refusal | undefined {
    const outcome = this.#outcomes[this.#writes.length];
    this.#writes.push(write);
    return outcome?.kind === "refused" ? outcome.refusal : undefined;
  }

  event(event: PlannedEvent): void {
    this.#events.push(event);
  }

  /** Looks again after so many seconds, or sooner if somebody else wants that. */
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
