import { needsStateClaim } from "@virtkit/launcher-pod/traits";
import type { PlanError } from "../plan/plan.ts";
import type { MigrationPass } from "./migration-pass.ts";
import { recoverState } from "./recovery-job.ts";
import { dropTargetState } from "./target-state.ts";

/** Fails the migration and removes what was made for it. */
export function failMigration(pass: MigrationPass, why: string): PlanError | undefined {
  const error = dropTargetState(pass);
  if (error) return error;
  pass.status = { ...pass.status, phase: "Failed" };
  pass.event("Warning", "FailedMigration", why);
  return undefined;
}

/**
 * Ends a migration for which it is unknown how far the guest came: its persistent state shows that.
 */
export function interruptMigration(pass: MigrationPass, why: string): PlanError | undefined {
  if (!needsStateClaim(pass.vmi)) return failMigration(pass, why);
  const phase = recoverState(pass);
  if (typeof phase !== "string") return phase;
  pass.status = { ...pass.status, phase };
  pass.event("Warning", "FailedMigration", why);
  return undefined;
}
