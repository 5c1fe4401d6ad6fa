import type { MigrationIdentity } from "@virtkit/migration/handover";
import { migrationFailure } from "./launcher-failure.ts";

/** Throws if a message belongs to another handover. */
export function assertSameMigration(expected: MigrationIdentity, found: MigrationIdentity): void {
  for (const field of ["migrationUID", "vmiUID", "epoch", "seq"] as const) {
    if (expected[field] === found[field]) continue;
    const message = `${field} is ${JSON.stringify(found[field])}, but this handover has ${JSON.stringify(expected[field])}; nothing was changed`;
    throw migrationFailure("MIGRATION_REFUSED", message, field);
  }
}
