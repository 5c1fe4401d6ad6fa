import type { VirtualMachineInstance } from "@virtkit/api/schema";

/** Whether disks are copied along, for which the target needs a second port and libvirt a flag. */
export function isBlockMigration({ status }: VirtualMachineInstance): boolean {
  const { migrationMethod, migratedVolumes = [] } = status ?? {};
  return migrationMethod === "BlockMigration" || migratedVolumes.length > 0;
}
