import type { RequestOptions } from "@virtkit/kube";
import { carryOut, type PlanTarget } from "./carry-out.ts";
import { ControllerError } from "./controller-error.ts";
import type { EventSubject, Plan, PlannedEvent } from "./plan.ts";
import type { WriteOutcome } from "./write-outcome.ts";

/** Where plans are carried out. */
export interface PlanRunner {
  readonly target: PlanTarget;
  /** Reports an event; must not block. */
  record(about: EventSubject, event: Pick<PlannedEvent, "type" | "reason" | "message">): void;
}

/** The result of a reconciler: when to look again although nothing has changed, in milliseconds. */
export interface ReconcileAnswer {
  readonly requeueAfter?: number;
}

/** What a pass is about. */
export interface PlanSubject {
  /** As `namespace/name`. */
  readonly key: string;
  /** The object for events that do not name one. Without it such events are dropped. */
  readonly about: EventSubject | undefined;
  /** Options of its requests. Its signal is asked for only by a write: most passes have none, and a signal costs. */
  readonly request?: RequestOptions | undefined;
}

/**
 * Carries out a plan and records its events, once each. Throws a `ControllerError` if something could not be done,
 * so that the queue tries again, with a growing delay.
 */
export async function runPlan(
  decide: (outcomes: readonly WriteOutcome[]) => Plan,
  { target, record }: PlanRunner,
  { key, about, request }: PlanSubject,
): Promise<ReconcileAnswer> {
  const { events, error, requeueAfterSeconds } = await carryOut(decide, target, request);
  for (const { about: subject = about, type, reason, message } of events) {
    if (subject) record(subject, { type, reason, message });
  }
  if (error) {
    const { reason, message } = error;
    const text = `the pass over ${key} is not complete: ${message}`;
    throw new ControllerError("CONTROLLER_PASS_INCOMPLETE", text, { path: key, reason });
  }
  return requeueAfterSeconds === undefined ? {} : { requeueAfter: requeueAfterSeconds * 1000 };
}

/**
 * Decides as `decide` does, and returns the plan that was already made for the case that nothing has been written,
 * if there is one: most passes have no write, and planning is most of what they cost.
 */
export function decideFrom<P extends Plan>(
  made: P | undefined,
  decide: (outcomes: readonly WriteOutcome[]) => P,
): (outcomes: readonly WriteOutcome[]) => P {
  return (outcomes) => (made && outcomes.length === 0 ? made : decide(outcomes));
}
