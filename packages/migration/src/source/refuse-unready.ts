import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { MigrationError } from "../migration-error.ts";

/**
 * Refuses a migration that must not begin now.
 *
 * @throws MigrationError `MIGRATION_NOT_NOW`
 */
export function refuseUnready({ status }: VirtualMachineInstance): void {
  const backup = status?.changedBlockTracking?.backupStatus;
  if (backup) {
    const path = "status.changedBlockTracking.backupStatus";
    const message = `${path}: backup ${backup.backupName ?? ""} is running; wait until it has ended`;
    throw new MigrationError("MIGRATION_NOT_NOW", message, { path });
  }
  if (!status?.migrationState) {
    const path = "status.migrationState";
    const message = `${path}: is not set; the controller must hand the VMI over first`;
    throw new MigrationError("MIGRATION_NOT_NOW", message, { path });
  }
}
