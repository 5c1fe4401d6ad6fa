export { carryOut, type PlanTarget } from "./carry-out.ts";
export { type ClientTargetOptions, clientTarget, type PlanClient } from "./client-target.ts";
export type { EventSubject, Plan, PlanError, PlannedEvent, PlannedWrite } from "./plan.ts";
export { PlanDraft } from "./plan-draft.ts";
export type { Refusal, WriteOutcome } from "./write-outcome.ts";
