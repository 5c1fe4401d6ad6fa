import type { VirtualMachineInstanceMigration } from "@virtkit/api/schema";

/** Places in the queue of migrations. Those that run already come before all that wait. */
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

/** The place in the queue of a migration that waits: higher goes first. An unknown priority is the lowest. */
export function migrationPriority(migration: VirtualMachineInstanceMigration): number {
  return priorities.get(migration?.spec?.priority) ?? queuePriority.normal;
}

/** After how many seconds a migration that has to wait asks again whether it may start. */
export function requeueDelaySeconds(priority: number): number {
  if (priority >= queuePriority.systemCritical) return 1;
  return priority >= queuePriority.userTriggered ? 3 : 5;
}
