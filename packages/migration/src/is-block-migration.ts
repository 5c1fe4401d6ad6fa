import type { VirtualMachineInstance } from "@virtkit/api/schema";

/** Whether disks are copied along. The target then needs a second port, and libvirt a flag. */
export function isBlockMigration({ status }: VirtualMachineInstance): boolean {
  const { migrationMethod, migratedVolumes = [] } = status ?? {};
  return migrationMethod === "BlockMigration" || migratedVolumes.length > 0;
}
