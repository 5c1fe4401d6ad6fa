import type { RequestOptions } from "@virtkit/kube";
import { carryOut, type PlanTarget } from "./carry-out.ts";
import { ControllerError } from "./controller-error.ts";
import type { EventSubject, Plan, PlannedEvent } from "./plan.ts";
import type { WriteOutcome } from "./write-outcome.ts";

/** Where plans go. */
export interface PlanRunner {
  readonly target: PlanTarget;
  /** Tells an event; must not wait. */
  record(about: EventSubject, event: Pick<PlannedEvent, "type" | "reason" | "message">): void;
}

/** The result of a reconciler: when to look again although nothing has changed, in milliseconds. */
export interface ReconcileAnswer {
  readonly requeueAfter?: number;
}

/** What a pass is about. */
export interface PlanSubject extends RequestOptions {
  /** As `namespace/name`. */
  readonly key: string;
  /** The object that events without another are about; without one they are not told. */
  readonly about: EventSubject | undefined;
}

/**
 * Carries out a plan and records its events, once each. Throws a `ControllerError` if something could not be done,
 * so that the queue tries again, with a growing delay.
 */
export async function runPlan(
  decide: (outcomes: readonly WriteOutcome[]) => Plan,
  { target, record }: PlanRunner,
  { key, about, signal }: PlanSubject,
): Promise<ReconcileAnswer> {
  const { events, error, requeueAfterSeconds } = await carryOut(decide, target, { signal });
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
