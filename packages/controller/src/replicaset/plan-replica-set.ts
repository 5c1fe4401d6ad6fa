import type { VirtualMachineInstanceReplicaSet } from "@virtkit/api/schema";
import { at, isSet, object } from "@virtkit/api/shape";
import { apiError } from "../plan/api-error.ts";
import { readSelector, type Selector } from "../plan/label-selector.ts";
import { nameOf } from "../plan/object-name.ts";
import { observedVersion } from "../plan/observed-version.ts";
import { isDeleting } from "../plan/ownership.ts";
import type { Plan } from "../plan/plan.ts";
import { PlanDraft } from "../plan/plan-draft.ts";
import { vmResources } from "../plan/vm-resources.ts";
import type { WriteOutcome } from "../plan/write-outcome.ts";
import { claimMembers } from "./claim-members.ts";
import { isActive } from "./members.ts";
import { statusPlan } from "./replica-set-status.ts";
import type { ReplicaSetConfig, ReplicaSetView } from "./replica-set-view.ts";
import { scale } from "./scale.ts";

/**
 * Decides what to do about a replica set: VMIs to adopt, release, create and delete, and its
 * status.
 *
 * At most 250 VMIs are created or deleted in a pass. Finished VMIs are deleted and replaced. If
 * there are too many, those that serve nobody are deleted first, see `victims`. A replica set whose
 * selector does not match its own template is left alone: it would create VMIs forever.
 *
 * @param now milliseconds since the epoch
 * @param outcomes of the writes so far; see `carryOut`
 */
export function planReplicaSet(
  view: ReplicaSetView,
  config: ReplicaSetConfig,
  now: number,
  outcomes: readonly WriteOutcome[] = [],
): Plan {
  const draft = new PlanDraft(outcomes);
  const { replicaSet } = view;
  const resources = vmResources(config.names);
  const versions = observedVersion(replicaSet, config.names);
  if (versions.length > 0) {
    const target = { resource: resources.replicaSets, object: nameOf(replicaSet) };
    const refusal = draft.write({ kind: "patch", ...target, operations: versions });
    return draft.finish(refusal && apiError(refusal));
  }
  const selector = selectorOf(replicaSet);
  if (!selector) return draft.finish();
  const claimed = claimMembers(draft, view, selector, config);
  if ("error" in claimed) return draft.finish(claimed.error);
  const { members } = claimed;
  const mayScale =
    view.expected === undefined &&
    at(replicaSet, "spec", "paused") !== true &&
    !isDeleting(replicaSet);
  const error = mayScale ? scale(draft, replicaSet, members, config) : undefined;
  const active = members.filter((vmi) => isActive(vmi, config.names));
  statusPlan(draft, { replicaSet, active, selector, error, now }, config);
  return draft.finish(error);
}

/** The selector of a usable replica set, which selects what the template makes. */
function selectorOf(replicaSet: VirtualMachineInstanceReplicaSet): Selector | undefined {
  const labels = object(at(replicaSet, "spec", "template", "metadata", "labels"));
  const selector = replicaSet.spec?.selector;
  if (!isSet(selector) || Object.keys(labels).length === 0) return undefined;
  const read = readSelector(selector);
  return read?.matches(labels) ? read : undefined;
}
