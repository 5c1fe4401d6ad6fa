import type { MigrationMode } from "./source/judge-by-time.ts";

/** The domain on one side of a migration: the parts that decide the next step. */
export interface MigratingDomain {
  /** UID of the VMI that it was started for; absent if unknown. */
  readonly vmiUid?: string | undefined;
  /** As KubeVirt names states: `Running`, `Paused`, `Shutoff`... */
  readonly state: string;
  readonly reason?: string;
  /** What its launcher reports about the last migration it tried. */
  readonly migration?: MigrationAttempt | undefined;
}

/** One attempt to migrate, as a launcher remembers it. */
export interface MigrationAttempt {
  /** UID of the migration. Each migration is attempted once. */
  readonly uid: string;
  readonly startTimestamp?: string | undefined;
  readonly endTimestamp?: string | undefined;
  readonly failed?: boolean | undefined;
  readonly failureReason?: string | undefined;
  readonly mode?: MigrationMode | undefined;
  readonly abortStatus?: AbortStatus | undefined;
}

/** How far the cancellation of an attempt has come. */
export type AbortStatus = "Aborting" | "Succeeded" | "Failed";

/** Whether an attempt is already being cancelled. A failed cancellation is retried. */
export function isAbortHandled(status: string | undefined): boolean {
  return status === "Aborting" || status === "Succeeded";
}
