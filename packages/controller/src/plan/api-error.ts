import type { PlanError } from "./plan.ts";
import type { Refusal } from "./write-outcome.ts";

/** The API server's refusal as the error of a plan. */
export function apiError({ reason, message }: Refusal): PlanError {
  return { kind: "api", reason, message };
}
