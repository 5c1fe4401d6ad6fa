import {
  agreeOnVersion,
  type ControlCaller,
  type MigrationIdentity,
  targetOver,
} from "@virtkit/migration/handover";
import { isMigrationError } from "@virtkit/migration/source/agent";

/**
 * Asks the target's launcher for its copy, before the source's begins: it answers for the handover that it knows. False if it
 * does not answer yet.
 *
 * @throws MigrationError `MIGRATION_REFUSED` if it expects another handover, or speaks no version in common.
 */
export async function targetExpects(
  link: ControlCaller,
  migration: MigrationIdentity,
  options: { readonly signal?: AbortSignal } = {},
): Promise<boolean> {
  try {
    await agreeOnVersion(link, options);
    await targetOver(link).state(migration, options);
    return true;
  } catch (error) {
    if (isMigrationError(error) && error.code === "MIGRATION_REFUSED") throw error;
    return false;
  }
}
