import type { VirtualMachineInstanceMigration } from "@virtkit/api/schema";

/** Positions in the queue of migrations. Running migrations come before all waiting ones. */
export const queuePriority = {
  running: 1000,
  systemCritical: 100,
  userTriggered: 50,
  systemMaintenance: 20,
  normal: 0,
} as const;

const priorities: ReadonlyMap<string | undefined, number> = new Map([
  ["system-critical", queuePriority.systemCritical],
  ["user-triggered", queuePriority.userTriggered],
  ["system-maintenance", queuePriority.systemMaintenance],
]);

/** The position in the queue of a waiting migration: higher goes first. An unknown priority is the lowest. */
export function migrationPriority(migration: VirtualMachineInstanceMigration): number {
  return priorities.get(migration?.spec?.priority) ?? queuePriority.normal;
}

/** After how many seconds a waiting migration asks again whether it may start. */
export function requeueDelaySeconds(priority: number): number {
  if (priority >= queuePriority.systemCritical) return 1;
  return priority >= queuePriority.userTriggered ? 3 : 5;
}
