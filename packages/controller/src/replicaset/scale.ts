import type { VirtualMachineInstance, VirtualMachineInstanceReplicaSet } from "@virtkit/api/schema";
import { at, number } from "@virtkit/api/shape";
import { apiError } from "../plan/api-error.ts";
import { nameOf, uidOf } from "../plan/object-name.ts";
import type { PlanError } from "../plan/plan.ts";
import type { PlanDraft } from "../plan/plan-draft.ts";
import { vmResources } from "../plan/vm-resources.ts";
import { isActive, isFinished, victims } from "./members.ts";
import { replicaOf } from "./replica-of.ts";
import type { ReplicaSetConfig } from "./replica-set-view.ts";

/** At most this many VMIs are created or deleted in one pass. */
const burst = 250;

/** Creates missing replicas, or deletes surplus ones, then the finished ones. */
export function scale(
  draft: PlanDraft,
  replicaSet: VirtualMachineInstanceReplicaSet,
  members: readonly VirtualMachineInstance[],
  config: ReplicaSetConfig,
): PlanError | undefined {
  const active = members.filter((vmi) => isActive(vmi, config.names));
  const excess = active.length - wantedReplicas(replicaSet);
  const error =
    excess < 0
      ? create(draft, replicaSet, Math.min(-excess, burst), config)
      : remove(draft, victims(active).slice(0, Math.min(excess, burst)), config);
  if (error) return error;
  const finished = members.filter((vmi) => isFinished(vmi, config.names));
  return remove(draft, finished.slice(0, burst), config);
}

/** How many VMIs a replica set should have. */
export function wantedReplicas(replicaSet: VirtualMachineInstanceReplicaSet): number {
  return number(at(replicaSet, "spec", "replicas"), 1);
}

/** A failure does not stop the others: a VMI that exceeds the quota does not hold up the rest. */
function create(
  draft: PlanDraft,
  replicaSet: VirtualMachineInstanceReplicaSet,
  count: number,
  { names }: ReplicaSetConfig,
): PlanError | undefined {
  const resource = vmResources(names).vmis;
  const object = replicaOf(replicaSet, names);
  let error: PlanError | undefined;
  for (let n = 0; n < count; n += 1) {
    const refusal = draft.write({ kind: "create", resource, object });
    if (refusal) error ??= apiError(refusal);
    draft.event(
      refusal
        ? {
            type: "Warning",
            reason: "FailedCreate",
            message: `a VMI could not be created: ${refusal.message}`,
          }
        : { type: "Normal", reason: "SuccessfulCreate", message: "a VMI was created" },
    );
  }
  return error;
}

function remove(
  draft: PlanDraft,
  vmis: readonly VirtualMachineInstance[],
  { names }: ReplicaSetConfig,
): PlanError | undefined {
  const resource = vmResources(names).vmis;
  let error: PlanError | undefined;
  for (const vmi of vmis) {
    const target = nameOf(vmi);
    const refusal = draft.write({ kind: "delete", resource, object: target, uid: uidOf(vmi) });
    if (refusal) error ??= apiError(refusal);
    draft.event(
      refusal
        ? {
            type: "Warning",
            reason: "FailedDelete",
            message: `VMI ${target.name} could not be deleted: ${refusal.message}`,
          }
        : { type: "Normal", reason: "SuccessfulDelete", message: `VMI ${target.name} was deleted` },
    );
  }
  return error;
}
