import { isLauncherError } from "@virtkit/launcher/client";

/**
 * Whether a launcher has answered that it takes no part in the migration that it was asked about, or, being older, in any.
 * Any other refusal says nothing: a launcher that does not understand a request may have a copy of the guest.
 */
export function isUnknownMigration(error: unknown): boolean {
  if (!isLauncherError(error)) return false;
  const { code, path } = error;
  return code === "LAUNCHER_VERB" || (code === "LAUNCHER_ARGUMENT" && path === "migrationUID");
}
