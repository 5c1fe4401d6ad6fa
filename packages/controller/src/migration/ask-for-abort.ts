import { nameOf } from "../plan/object-name.ts";
import type { PlanError } from "../plan/plan.ts";
import { failedPass } from "./failed-pass.ts";
import type { MigrationPass } from "./migration-pass.ts";

/** Asks the source's node agent to stop a running migration. Only the source may decide that. */
export function askForAbort(pass: MigrationPass): PlanError | undefined {
  const { vmi, draft, resources } = pass;
  const { migrationUid, abortRequested } = vmi.status?.migrationState ?? {};
  if (abortRequested) return undefined;
  const path = "/status/migrationState";
  const refusal = draft.write({
    kind: "patch",
    resource: resources.vmis,
    object: nameOf(vmi),
    operations: [
      { op: "test", path: `${path}/migrationUid`, value: migrationUid ?? null },
      { op: "add", path: `${path}/abortRequested`, value: true },
    ],
  });
  if (!refusal) {
    const message = "the source's node agent was asked to stop the migration";
    pass.event("Normal", "SuccessfulAbortMigration", message);
    return undefined;
  }
  const message = `the source's node agent could not be asked to stop: ${refusal.message}`;
  pass.event("Warning", "FailedAbortMigration", message);
  return failedPass(message);
}
