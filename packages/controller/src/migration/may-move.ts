import { text } from "@virtkit/api/shape";
import type { MigrationPass } from "./migration-pass.ts";
import { isFinalMigration } from "./migration-phase.ts";

/** Whether no other migration moves the VMI: one that is over, or gone, does not. */
export function mayMove({ vmi, view, uid, namespace }: MigrationPass): boolean {
  const current = text(vmi.status?.migrationState?.migrationUid);
  if (current === "" || current === uid) return true;
  const other = view.migrations.find(
    ({ metadata }) => metadata?.namespace === namespace && metadata.uid === current,
  );
  return !other || isFinalMigration(other);
}
