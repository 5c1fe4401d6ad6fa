import type { MigrationMode } from "./source/judge-by-time.ts";

/** The domain on one side of a migration, as far as a migration's next step follows from it. */
export interface MigratingDomain {
  /** Of the VMI that it was started for; absent if that is not known. */
  readonly vmiUid?: string | undefined;
  /** As KubeVirt names states: `Running`, `Paused`, `Shutoff`... */
  readonly state: string;
  readonly reason?: string;
  /** What its launcher says of the migration that it has tried last. */
  readonly migration?: MigrationAttempt | undefined;
}

/** One attempt to migrate, as a launcher remembers it. */
export interface MigrationAttempt {
  /** Of the migration; an attempt is made once. */
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

/** Whether somebody has seen to it already that an attempt ends. One that failed is tried again. */
export function isAbortHandled(status: string | undefined): boolean {
  return status === "Aborting" || status === "Succeeded";
}
