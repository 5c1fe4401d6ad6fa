import type { VirtualMachineInstanceMigrationState } from "@virtkit/api/schema";
import { isSet } from "@virtkit/api/shape";

/** Between two clusters only one side has the other's address. */
export function isDecentralized({
  sourceState,
  targetState,
}: VirtualMachineInstanceMigrationState): boolean {
  if (!sourceState || !targetState) return false;
  return isSet(sourceState.syncAddress) !== isSet(targetState.syncAddress);
}

/** Whether a migration is over, successfully or not. */
export function isOver({
  endTimestamp,
  completed,
  failed,
}: VirtualMachineInstanceMigrationState): boolean {
  return isSet(endTimestamp) && (completed === true || failed === true);
}

/** Whether a migration has begun and not ended. */
export function isRunning(
  { startTimestamp, endTimestamp }: VirtualMachineInstanceMigrationState,
  now: number,
): boolean {
  const isPast = (time: string | undefined): boolean => isSet(time) && Date.parse(time) <= now;
  return isPast(startTimestamp) && !isPast(endTimestamp);
}
