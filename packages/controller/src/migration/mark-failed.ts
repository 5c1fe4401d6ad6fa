import type { VirtualMachineInstanceMigrationState } from "@virtkit/api/schema";
import type { JsonPatchOperation } from "@virtkit/kube";
import { apiError } from "../plan/api-error.ts";
import { nameOf } from "../plan/object-name.ts";
import type { PlanError } from "../plan/plan.ts";
import type { MigrationPass } from "./migration-pass.ts";

const targetGone = "the target Pod has ended or no longer exists";

/**
 * Writes to the VMI that the migration has failed, for the node agents. Field by field, because
 * they write other fields at the same time, and only while the state belongs to this migration.
 */
export function markFailed(pass: MigrationPass): PlanError | undefined {
  const { vmi, draft, uid, time, resources } = pass;
  const state = vmi.status?.migrationState ?? {};
  const outcome: VirtualMachineInstanceMigrationState = {
    failed: true,
    completed: true,
    ...(state.endTimestamp ? {} : { endTimestamp: time }),
    ...(state.startTimestamp ? {} : { startTimestamp: time }),
    ...(state.failureReason ? {} : { failureReason: targetGone }),
  };
  const set = ([field, value]: [string, unknown]): JsonPatchOperation => ({
    op: "add",
    path: `/status/migrationState/${field}`,
    value,
  });
  const refusal = draft.write({
    kind: "patch",
    resource: resources.vmis,
    object: nameOf(vmi),
    operations: [
      { op: "test", path: "/status/migrationState/migrationUid", value: uid },
      ...Object.entries(outcome).map(set),
    ],
  });
  if (refusal) return apiError(refusal);
  pass.wrote({ ...vmi, status: { ...vmi.status, migrationState: { ...state, ...outcome } } });
  pass.vmiEvent("Warning", "FailedMigration", `migration ${uid} failed: ${targetGone}`);
  return undefined;
}
