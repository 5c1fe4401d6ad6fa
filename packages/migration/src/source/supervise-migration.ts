import { describeError, silentLog } from "@virtkit/api/observe";
import type { MigrationMode } from "./judge-by-time.ts";
import type { WatchedProgress } from "./migration-progress.ts";
import type { Verdict } from "./verdict.ts";
import { type WatchOptions, watchMigration } from "./watch-migration.ts";

/** A migration in progress, as far as it can be influenced. */
export interface SupervisedMigration {
  /** Decides that the source continues. Throws if it is too late. */
  abort(reason: string): void;
  /** Commits to post-copy and switches. */
  switchToPostCopy(): Promise<void>;
}

/** How a migration is supervised. */
export interface SuperviseOptions extends Omit<WatchOptions, "mode" | "signal"> {
  /** Suspends the guest at the source. */
  readonly suspend: () => Promise<void>;
  /** Sets how long QEMU may pause the guest. */
  readonly setMaxDowntime: (milliseconds: number) => Promise<void>;
  /** Called with every step. */
  readonly onProgress?: (progress: WatchedProgress) => void;
}

/**
 * Watches a migration until the signal and carries out what the verdicts say. A verdict that cannot be
 * carried out is logged, and retried as long as it stands. After an abort nothing more is done.
 *
 * @example
 * ```ts
 * const supervise = (migration, signal) => superviseMigration(migration, options, signal);
 * ```
 */
export async function superviseMigration(
  migration: SupervisedMigration,
  options: SuperviseOptions,
  signal: AbortSignal,
): Promise<void> {
  const { log = silentLog, onProgress } = options;
  let mode: MigrationMode = "PreCopy";
  for await (const progress of watchMigration({ ...options, mode: () => mode, signal })) {
    onProgress?.(progress);
    const { verdict } = progress;
    if (verdict.action === "go-on") continue;
    const { action, reason } = verdict;
    log.info({ action, reason }, "the migration does not converge");
    try {
      mode = await carryOut(verdict, mode, migration, options);
      if (action === "abort") return;
    } catch (error) {
      if (signal.aborted) return;
      log.warn({ action, error: describeError(error) }, "the action against it failed");
    }
  }
}

/** Returns how memory is transferred from then on. */
async function carryOut(
  verdict: Exclude<Verdict, { action: "go-on" }>,
  mode: MigrationMode,
  migration: SupervisedMigration,
  { suspend, setMaxDowntime }: SuperviseOptions,
): Promise<MigrationMode> {
  switch (verdict.action) {
    case "abort":
      migration.abort(verdict.reason);
      return mode;
    case "postcopy":
      await migration.switchToPostCopy();
      return "PostCopy";
    case "pause":
      await suspend();
      return "Paused";
    case "set-downtime":
      await setMaxDowntime(verdict.maxDowntimeMs);
      // With a new deadline it replaces a pause; without one, it is only a wider limit.
      return verdict.completionSeconds === undefined ? mode : "Paused";
  }
}
