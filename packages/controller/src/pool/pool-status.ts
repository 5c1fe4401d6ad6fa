import { type Condition, conditionsOf, findCondition, removeCondition } from "@virtkit/api/status";
import { apiError } from "../plan/api-error.ts";
import { fieldPatch, sameFields, versionTest } from "../plan/field-patch.ts";
import type { Selector } from "../plan/label-selector.ts";
import { nameOf } from "../plan/object-name.ts";
import type { PlanError } from "../plan/plan.ts";
import { timestamp } from "../plan/timestamp.ts";
import type { PoolPass } from "./pool-pass.ts";
import { isReady } from "./selection.ts";

/** Writes the pool's status if it has changed, and reports what is new in it. */
export function writePoolStatus(
  pass: PoolPass,
  selector: Selector,
  error: PlanError | undefined,
): PlanError | undefined {
  const { pool, vms } = pass;
  const before = conditionsOf(pool);
  const conditions = withPause(pass, withFailure(pass, before, error));
  const status = {
    ...pool.status,
    labelSelector: selector.text || undefined,
    replicas: vms.length || undefined,
    readyReplicas: vms.filter(isReady).length || undefined,
    conditions: conditions.length > 0 ? [...conditions] : undefined,
  };
  if (sameFields(status, pool.status)) return undefined;
  const refusal = pass.draft.write({
    kind: "patch",
    resource: pass.resources.pools,
    object: nameOf(pool),
    subresource: "status",
    operations: [
      ...(pass.isPoolWritten ? [] : versionTest(pool)),
      ...fieldPatch("/status", pool.status, status),
    ],
  });
  return refusal && apiError(refusal);
}

/** The first failure is the one worth reading; it stays until all is well. */
function withFailure(
  pass: PoolPass,
  conditions: readonly Condition[],
  error: PlanError | undefined,
): readonly Condition[] {
  if (!error) return removeCondition(conditions, "ReplicaFailure");
  if (findCondition(conditions, "ReplicaFailure")) return conditions;
  const { reason, message } = error;
  pass.draft.event({ type: "Warning", reason, message });
  return [...conditions, condition(pass, "ReplicaFailure", reason, message)];
}

function withPause(pass: PoolPass, conditions: readonly Condition[]): readonly Condition[] {
  const isPaused = pass.pool.spec?.paused === true;
  if (isPaused === (findCondition(conditions, "ReplicaPaused") !== undefined)) return conditions;
  const [reason, message] = isPaused
    ? ["SuccessfulPaused", "spec.paused is true; nothing is created, deleted or updated"]
    : ["SuccessfulResume", "the pool is managed again"];
  pass.draft.event({ type: "Normal", reason, message });
  return isPaused
    ? [...conditions, condition(pass, "ReplicaPaused", reason, message)]
    : removeCondition(conditions, "ReplicaPaused");
}

function condition({ now }: PoolPass, type: string, reason: string, message: string): Condition {
  return { type, status: "True", reason, message, lastTransitionTime: timestamp(now) };
}
