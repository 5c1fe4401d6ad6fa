import type {
  VirtualMachineInstance,
  VirtualMachineInstanceMigrationState,
} from "@virtkit/api/schema";
import { isSet } from "@virtkit/api/shape";

/** Whether a node is where a VMI leaves from. */
export function isSource(vmi: VirtualMachineInstance, node: string): boolean {
  const { nodeName, migrationState: state } = vmi.status ?? {};
  if (!state || state.sourceNode !== node) return false;
  const { targetState } = state;
  if (!isDecentralized(state)) return nodeName === node;
  return isSet(targetState?.syncAddress) && isSet(targetState?.nodeAddress);
}

/** Between two clusters only one side has the other's address. */
export function isDecentralized({
  sourceState,
  targetState,
}: VirtualMachineInstanceMigrationState): boolean {
  if (!sourceState || !targetState) return false;
  return isSet(sourceState.syncAddress) !== isSet(targetState.syncAddress);
}
