import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { at } from "@virtkit/api/shape";
import type { Selector } from "../plan/label-selector.ts";
import { nameOf } from "../plan/object-name.ts";
import { adoption, judgeClaim, release } from "../plan/ownership.ts";
import type { PlanError } from "../plan/plan.ts";
import type { PlanDraft } from "../plan/plan-draft.ts";
import { vmResources } from "../plan/vm-resources.ts";
import type { Refusal } from "../plan/write-outcome.ts";
import { ownedBy } from "./replica-of.ts";
import type { ReplicaSetConfig, ReplicaSetView } from "./replica-set-view.ts";

/** The VMIs that now belong to a replica set, or why that could not be settled. */
export type Claimed =
  | { readonly members: readonly VirtualMachineInstance[] }
  | { readonly error: PlanError };

/**
 * Adopts selected VMIs without an owner and releases own VMIs that are no longer selected. Skips
 * VMIs that are gone when their turn comes.
 */
export function claimMembers(
  draft: PlanDraft,
  { replicaSet, vmis }: ReplicaSetView,
  selector: Selector,
  { names }: ReplicaSetConfig,
): Claimed {
  const owner = ownedBy(replicaSet, names);
  const resource = vmResources(names).vmis;
  const members: VirtualMachineInstance[] = [];
  let error: PlanError | undefined;
  for (const vmi of vmis) {
    const verdict = judgeClaim(vmi, replicaSet, selector.matches(at(vmi, "metadata", "labels")));
    if (verdict === "own") members.push(vmi);
    if (verdict === "own" || verdict === "foreign") continue;
    const operations = verdict === "adopt" ? adoption(vmi, owner) : release(vmi, owner.uid);
    const refusal = draft.write({ kind: "patch", resource, object: nameOf(vmi), operations });
    if (!refusal && verdict === "adopt") members.push(vmi);
    if (refusal && refusal.reason !== "NotFound") error ??= notClaimed(vmi, refusal);
  }
  return error ? { error } : { members };
}

function notClaimed(vmi: VirtualMachineInstance, { reason, message }: Refusal): PlanError {
  return {
    kind: "other",
    reason,
    message: `VMI ${nameOf(vmi).name} could not be claimed: ${message}`,
  };
}
