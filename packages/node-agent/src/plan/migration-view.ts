import type { Names } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { entry, isSet } from "@virtkit/api/shape";
import type { NodeDomain } from "./node-view.ts";

/** Whether a VMI was created to receive a guest from elsewhere. */
export function isReceiver({ metadata }: VirtualMachineInstance, { annotations }: Names): boolean {
  return entry(metadata?.annotations, annotations.createMigrationTarget) === "true";
}

/** Whether a VMI sends its guest to another cluster or namespace. */
export function isSender({ status }: VirtualMachineInstance): boolean {
  const { targetState } = status?.migrationState ?? {};
  return isSet(targetState?.syncAddress) && isSet(targetState?.nodeAddress);
}

/** Whether the VMI says that it is currently being migrated. */
export function isMigrating({ status }: VirtualMachineInstance, now: number): boolean {
  const { startTimestamp: start, endTimestamp: end } = status?.migrationState ?? {};
  const isPast = (time: string | undefined): boolean => isSet(time) && Date.parse(time) <= now;
  return isPast(start) && !isPast(end);
}

const moving = ["Migration", "StartingUp", "Postcopy"];

/** Whether source and target are working on it: then the passes of the migration handle the guest, not this one. */
export function isMigrationUnderWay(
  vmi: VirtualMachineInstance | undefined,
  domain: NodeDomain | undefined,
  names: Names,
): boolean {
  const state = vmi?.status?.migrationState;
  if (isSet(state?.startTimestamp) && !isSet(state?.endTimestamp)) return true;
  if (domain?.migration?.hasStarted && !domain.migration.hasEnded) return true;
  if (domain?.state === "Paused" && moving.includes(domain.reason)) return true;
  return vmi !== undefined && isReceiver(vmi, names) && state?.completed !== true;
}
