import type {
  VirtualMachineInstance,
  VirtualMachineInstanceMigrationState,
} from "@virtkit/api/schema";

/** Whether a node is where a VMI leaves from. */
export function isSource(vmi: VirtualMachineInstance, node: string): boolean {
  const { nodeName, migrationState: state } = vmi.status ?? {};
  if (!state || state.sourceNode !== node) return false;
  const { targetState } = state;
  if (!isDecentralized(state)) return nodeName === node;
  return targetState?.syncAddress !== undefined && targetState.nodeAddress !== undefined;
}

/** Between two clusters only one side has the other's address. */
export function isDecentralized({
  sourceState,
  targetState,
}: VirtualMachineInstanceMigrationState): boolean {
  if (!sourceState || !targetState) return false;
  return (sourceState.syncAddress === undefined) !== (targetState.syncAddress === undefined);
}
