/**
 * The annotation in which the source's node agent reports the migration's progress on the VMI, every few
 * seconds. KubeVirt has no field for it.
 */
export const migrationTransferAnnotation = "migration-transfer";

/** The progress of a migration. Amounts are in bytes. */
export interface MigrationTransfer {
  readonly migrationUID: string;
  readonly total: number;
  readonly remaining: number;
  readonly bytesPerSecond: number;
  /** The time of the report, in milliseconds since the epoch by the node's clock. */
  readonly at: number;
}

const amounts = ["total", "remaining", "bytesPerSecond", "at"] as const;

export function writeMigrationTransfer(transfer: MigrationTransfer): string {
  return JSON.stringify(transfer);
}

/** Undefined for anything else: it is only shown, and anybody may have written it. */
export function readMigrationTransfer(text: string | undefined): MigrationTransfer | undefined {
  if (text === undefined || text.length > 1_024) return undefined;
  try {
    const found = Object(JSON.parse(text));
    const isAmount = (name: string): boolean => Number.isFinite(found[name]) && found[name] >= 0;
    if (typeof found.migrationUID !== "string" || !amounts.every(isAmount)) return undefined;
    const { migrationUID, total, remaining, bytesPerSecond, at } = found;
    return { migrationUID, total, remaining, bytesPerSecond, at };
  } catch {
    // Text that is not JSON is ignored.
    return undefined;
  }
}
