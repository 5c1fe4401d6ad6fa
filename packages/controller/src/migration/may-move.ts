import { text } from "@virtkit/api/shape";
import type { MigrationPass } from "./migration-pass.ts";
import { isFinalMigration } from "./migration-phase.ts";

/** Whether no other migration is moving the VMI. One that is finished or gone does not count. */
export function mayMove({ vmi, view, uid, namespace }: MigrationPass): boolean {
  const current = text(vmi.status?.migrationState?.migrationUid);
  if (current === "" || current === uid) return true;
  const other = view.migrations.find(
    ({ metadata }) => metadata?.namespace === namespace && metadata.uid === current,
  );
  return !other || isFinalMigration(other);
}
