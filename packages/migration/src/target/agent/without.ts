import type { VirtualMachineInstanceStatus } from "@virtkit/api/schema";
import { removeCondition } from "@virtkit/api/status";

/** Labels or annotations without some of them. */
export function without(
  map: Readonly<Record<string, string>> | undefined,
  keys: readonly string[],
): Record<string, string> {
  return Object.fromEntries(Object.entries(map ?? {}).filter(([key]) => !keys.includes(key)));
}

/** A status without the conditions of a type. */
export function withoutCondition(
  status: VirtualMachineInstanceStatus,
  type: string,
): VirtualMachineInstanceStatus {
  const { conditions } = status;
  return conditions ? { ...status, conditions: [...removeCondition(conditions, type)] } : status;
}
