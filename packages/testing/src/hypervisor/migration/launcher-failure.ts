import type { LauncherError, LauncherErrorCode } from "@virtkit/launcher/client";
import type { MigrationError, MigrationErrorCode } from "@virtkit/migration/source";

/** The error that a launcher throws; only its type is used here, and it is known by its name. */
export function launcherFailure(
  code: LauncherErrorCode,
  message: string,
  path: string,
): LauncherError {
  return Object.assign(new Error(message), { name: "LauncherError" as const, code, path });
}

/** The same of a migration. */
export function migrationFailure(
  code: MigrationErrorCode,
  message: string,
  path?: string,
): MigrationError {
  return Object.assign(new Error(message), { name: "MigrationError" as const, code, path });
}
