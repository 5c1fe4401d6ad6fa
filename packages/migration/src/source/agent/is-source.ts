import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { isSet } from "@virtkit/api/shape";
import { isDecentralized } from "../../migration-phase.ts";

/** Whether a VMI's migration starts on this node. */
export function isSource(vmi: VirtualMachineInstance, node: string): boolean {
  const { nodeName, migrationState: state } = vmi.status ?? {};
  if (!state || state.sourceNode !== node) return false;
  const { targetState } = state;
  if (!isDecentralized(state)) return nodeName === node;
  return isSet(targetState?.syncAddress) && isSet(targetState?.nodeAddress);
}
