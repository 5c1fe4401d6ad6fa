import { needsStateClaim } from "@virtkit/launcher-pod/traits";
import type { PlanError } from "../plan/plan.ts";
import type { MigrationPass } from "./migration-pass.ts";
import { recoverState } from "./recovery-job.ts";
import { dropTargetState } from "./target-state.ts";

/** Fails the migration, and drops what was made for it. */
export function failMigration(pass: MigrationPass, why: string): PlanError | undefined {
  const error = dropTargetState(pass);
  if (error) return error;
  pass.status = { ...pass.status, phase: "Failed" };
  pass.event("Warning", "FailedMigration", why);
  return undefined;
}

/** Ends a migration of which it is open how far the guest has come: its persistent state tells. */
export function interruptMigration(pass: MigrationPass, why: string): PlanError | undefined {
  if (!needsStateClaim(pass.vmi)) return failMigration(pass, why);
  const phase = recoverState(pass);
  if (typeof phase !== "string") return phase;
  pass.status = { ...pass.status, phase };
  pass.event("Warning", "FailedMigration", why);
  return undefined;
}
