import type { PlanError } from "../plan/plan.ts";

/**
 * Why a pass over a migration cannot continue, for a reason of our own rather than the API
 * server's.
 */
export function failedPass(message: string): PlanError {
  return { kind: "other", reason: "MigrationFailed", message };
}

/** Whether a value is a failure rather than an object. */
export function isFailedPass(value: object | PlanError): value is PlanError {
  return "reason" in value && "message" in value;
}
