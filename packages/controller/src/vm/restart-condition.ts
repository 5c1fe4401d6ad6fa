import type { VirtualMachine, VirtualMachineCondition } from "@virtkit/api/schema";
import { conditionsOf, removeCondition } from "@virtkit/api/status";

/** The VM without `RestartRequired`, because it is being restarted. */
export function withoutRestartRequired(vm: VirtualMachine): VirtualMachine {
  return withConditions(
    vm,
    removeCondition(conditionsOf<VirtualMachineCondition>(vm), "RestartRequired"),
  );
}

/** The VM with these conditions; the same object if it has them already. */
export function withConditions(
  vm: VirtualMachine,
  conditions: readonly VirtualMachineCondition[],
): VirtualMachine {
  const before = conditionsOf<VirtualMachineCondition>(vm);
  const isSame =
    conditions.length === before.length && conditions.every((item, i) => item === before[i]);
  return isSame ? vm : { ...vm, status: { ...vm.status, conditions: [...conditions] } };
}
