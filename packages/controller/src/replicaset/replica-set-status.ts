import type {
  VirtualMachineInstance,
  VirtualMachineInstanceReplicaSet,
  VirtualMachineInstanceReplicaSetCondition,
} from "@virtkit/api/schema";
import { at } from "@virtkit/api/shape";
import { conditionsOf, findCondition, removeCondition, setCondition } from "@virtkit/api/status";
import { fieldPatch, sameFields, versionTest } from "../plan/field-patch.ts";
import type { Selector } from "../plan/label-selector.ts";
import { nameOf } from "../plan/object-name.ts";
import type { PlanError } from "../plan/plan.ts";
import type { PlanDraft } from "../plan/plan-draft.ts";
import { timestamp } from "../plan/timestamp.ts";
import { vmResources } from "../plan/vm-resources.ts";
import { isReady } from "./members.ts";
import type { ReplicaSetConfig } from "./replica-set-view.ts";
import { wantedReplicas } from "./scale.ts";

/** What the status of a replica set is computed from. */
export interface ReplicaSetState {
  readonly replicaSet: VirtualMachineInstanceReplicaSet;
  /** Its replicas before this pass created or deleted any. */
  readonly active: readonly VirtualMachineInstance[];
  readonly selector: Selector;
  readonly error: PlanError | undefined;
  readonly now: number;
}

type Condition = VirtualMachineInstanceReplicaSetCondition;

/**
 * Writes the status if it has changed. A refused write needs no further pass: the next event brings
 * one.
 */
export function statusPlan(
  draft: PlanDraft,
  state: ReplicaSetState,
  { names }: ReplicaSetConfig,
): void {
  const { replicaSet, active, selector } = state;
  const before = conditionsOf<Condition>(replicaSet);
  const conditions = conditionsFor(before, state);
  const status = {
    ...replicaSet.status,
    replicas: active.length || undefined,
    readyReplicas: active.filter(isReady).length || undefined,
    labelSelector: selector.text,
    ...(conditions.length > 0 || before.length > 0 ? { conditions: [...conditions] } : {}),
  };
  if (sameFields(status, replicaSet.status)) return;
  const operations = [
    ...versionTest(replicaSet),
    ...fieldPatch("/status", replicaSet.status, status),
  ];
  const target = { resource: vmResources(names).replicaSets, object: nameOf(replicaSet) };
  const refusal = draft.write({ kind: "patch", ...target, subresource: "status", operations });
  const isPaused = at(replicaSet, "spec", "paused") === true;
  if (refusal || isPaused === (findCondition(before, "ReplicaPaused") !== undefined)) return;
  draft.event(
    isPaused
      ? { type: "Normal", reason: "SuccessfulPaused", message: "nothing is created or deleted" }
      : {
          type: "Normal",
          reason: "SuccessfulResumed",
          message: "the replica set is managed again",
        },
  );
}

function conditionsFor(before: readonly Condition[], state: ReplicaSetState): readonly Condition[] {
  const { replicaSet, error, now } = state;
  const times = { lastTransitionTime: timestamp(now) };
  const isPaused = at(replicaSet, "spec", "paused") === true;
  const paused: readonly Condition[] = isPaused
    ? keep(before, {
        type: "ReplicaPaused",
        status: "True",
        reason: "Paused",
        message: "spec.paused is true; nothing is created or deleted",
        ...times,
      })
    : removeCondition(before, "ReplicaPaused");
  if (!error) return removeCondition(paused, "ReplicaFailure");
  const isShort = state.active.length < wantedReplicas(replicaSet);
  return keep(paused, {
    type: "ReplicaFailure",
    status: "True",
    reason: isShort ? "FailedCreate" : "FailedDelete",
    message: error.message,
    ...times,
  });
}

/** An existing condition stays as it is: the first failure is the one worth reading. */
function keep(conditions: readonly Condition[], condition: Condition): readonly Condition[] {
  return findCondition(conditions, condition.type)
    ? conditions
    : setCondition(conditions, condition);
}
