export { carryOut, type PlanTarget } from "./carry-out.ts";
export { type ClientTargetOptions, clientTarget, type PlanClient } from "./client-target.ts";
export {
  ControllerError,
  type ControllerErrorCode,
  type ControllerErrorOptions,
  isControllerError,
} from "./controller-error.ts";
export type { Known, KnownList, ObjectSource } from "./object-source.ts";
export type { EventSubject, Plan, PlanError, PlannedEvent, PlannedWrite } from "./plan.ts";
export { PlanDraft } from "./plan-draft.ts";
export { type PlanRunner, type PlanSubject, type ReconcileAnswer, runPlan } from "./run-plan.ts";
export type { Refusal, WriteOutcome } from "./write-outcome.ts";
