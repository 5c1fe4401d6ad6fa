/** Where the source's node agent says on a VMI, every few seconds, how far its migration is. KubeVirt has no place for it. */
export const migrationTransferAnnotation = "migration-transfer";

/** How far a migration is. Amounts are bytes. */
export interface MigrationTransfer {
  readonly migrationUID: string;
  readonly total: number;
  readonly remaining: number;
  readonly bytesPerSecond: number;
  /** When that was so, in ms since 1970 by the node. */
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
    // What is no JSON says nothing.
    return undefined;
  }
}
