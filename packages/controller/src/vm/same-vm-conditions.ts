import { runMemoryCondition } from "@virtkit/api/grant";
import { type Condition, findCondition, sameConditions } from "@virtkit/api/status";
import type { VmConfig } from "./vm-view.ts";

/**
 * Whether two lists of a VM's conditions mean the same. What the VM remembers is in a message; and the reasons of a failure
 * and of a restart do not say what to do about them.
 */
export function sameVmConditions(
  a: readonly Condition[],
  b: readonly Condition[],
  { names }: Pick<VmConfig, "names">,
): boolean {
  const told = ["Failure", "RestartRequired", names.own(runMemoryCondition)];
  const message = (list: readonly Condition[], type: string) => findCondition(list, type)?.message;
  return sameConditions(a, b) && told.every((type) => message(a, type) === message(b, type));
}
