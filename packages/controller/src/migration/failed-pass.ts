import type { PlanError } from "../plan/plan.ts";

/** Why a pass over a migration cannot go on: something of ours, not the API server's own answer. */
export function failedPass(message: string): PlanError {
  return { kind: "other", reason: "MigrationFailed", message };
}

/** Whether there is a failure where an object was to be. */
export function isFailedPass(value: object | PlanError): value is PlanError {
  return "reason" in value && "message" in value;
}
