import { objects } from "../shape.ts";

/** What conditions of VMs, VMIs, Pods and DataVolumes have in common. */
export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastProbeTime?: string | null;
  readonly lastTransitionTime?: string | null;
}

/** The conditions in a status of any shape; none if it is not a list. */
export function conditionsOf<T extends Condition = Condition>(
  object: { readonly status?: { readonly conditions?: unknown } | undefined } | undefined,
): readonly T[] {
  return objects<T>(object?.status?.conditions);
}

/** The first condition of a type. */
export function findCondition<T extends Condition>(
  conditions: readonly T[],
  type: string,
): T | undefined {
  return conditions.find((condition) => condition.type === type);
}

/** Whether there is a condition of this type with this status and, if one is given, this reason. */
export function hasCondition(
  conditions: readonly Condition[],
  type: string,
  status: string,
  reason?: string,
): boolean {
  const found = findCondition(conditions, type);
  return found?.status === status && (reason === undefined || found.reason === reason);
}

/**
 * The conditions with this one set.
 *
 * A condition changes when its status or its reason changes. If the same state is seen again, with a new time
 * or message, the given list itself is returned, so nothing is written.
 */
export function setCondition<T extends Condition>(
  conditions: readonly T[],
  condition: T,
): readonly T[] {
  const index = conditions.findIndex(({ type }) => type === condition.type);
  const present = conditions[index];
  if (!present) return [...conditions, condition];
  if (present.status === condition.status && sameReason(present, condition)) return conditions;
  return conditions.with(index, condition);
}

/** The conditions without those of a type; the given list itself if there are none. */
export function removeCondition<T extends Condition>(
  conditions: readonly T[],
  type: string,
): readonly T[] {
  return conditions.some((condition) => condition.type === type)
    ? conditions.filter((condition) => condition.type !== type)
    : conditions;
}

/**
 * The conditions with an observation that may have failed: `undefined` removes the condition, a failure sets
 * it. For the same failure as before, the given list itself is returned.
 */
export function observeCondition<T extends Condition>(
  conditions: readonly T[],
  type: string,
  observed: Omit<T, "type"> | undefined,
): readonly T[] {
  if (!observed) return removeCondition(conditions, type);
  return setCondition(conditions, { ...observed, type } as T);
}

/** Whether two lists mean the same: as many conditions, each with the same status and reason. */
export function sameConditions(a: readonly Condition[], b: readonly Condition[]): boolean {
  return (
    a.length === b.length &&
    a.every((condition) => {
      const counterpart = findCondition(b, condition.type);
      return counterpart?.status === condition.status && sameReason(counterpart, condition);
    })
  );
}

function sameReason(a: Condition, b: Condition): boolean {
  return (a.reason ?? "") === (b.reason ?? "");
}
