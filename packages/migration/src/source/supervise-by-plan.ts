import type { Clock } from "@virtkit/api/clock";
import type { Observers } from "@virtkit/api/observe";
import type { DomainRef, Libvirt } from "@virtkit/domain-manager/libvirt";
import type { DriveParts } from "./drive-migration.ts";
import type { DiskProgress, JobStats, WatchedProgress } from "./migration-progress.ts";
import type { MigrationPlan } from "./plan-migration.ts";
import { superviseMigration } from "./supervise-migration.ts";

/** What a migration is supervised with. */
export interface SupervisorParts extends Pick<Observers, "log"> {
  /** A connection that *perform* does not occupy. */
  readonly libvirt: Pick<Libvirt, "call" | "subscribe">;
  readonly dom: DomainRef;
  /** Called with every step. */
  readonly onProgress?: (progress: WatchedProgress) => void;
  readonly clock?: Clock;
}

/**
 * The `supervise` of `driveMigration`: out of time means post-copy, pause or abort, as the plan's policy says.
 *
 * @example
 * ```ts
 * driveMigration(plan, { ...parts, supervise: superviseByPlan(plan, { libvirt, dom }) });
 * ```
 */
export function superviseByPlan(
  {
    policy,
    initialDowntimeMs,
    copiedDisks = [],
  }: Pick<MigrationPlan, "policy" | "initialDowntimeMs"> &
    Partial<Pick<MigrationPlan, "copiedDisks">>,
  { libvirt, dom, ...parts }: SupervisorParts,
): NonNullable<DriveParts["supervise"]> {
  const setMaxDowntime = async (downtime: number): Promise<void> => {
    await libvirt.call("domainMigrateSetMaxDowntime", { dom, downtime });
  };
  return async (migration, signal) => {
    if (initialDowntimeMs !== undefined) await setMaxDowntime(initialDowntimeMs);
    const iterations = await libvirt.subscribe(["migrationIteration"], { dom });
    const options = {
      ...{ ...parts, policy, iterations, setMaxDowntime },
      sample: async () => {
        const stats = await libvirt.call("domainGetJobStats", { dom });
        const disks = await diskProgress(libvirt, dom, copiedDisks, stats);
        return disks.length > 0 ? { ...stats, disks } : stats;
      },
      suspend: () => migration.suspend(),
    };
    await superviseMigration(migration, options, signal);
  };
}

/** Progress of each disk; nothing once memory is copied, when all of them are in sync. */
async function diskProgress(
  libvirt: Pick<Libvirt, "call">,
  dom: DomainRef,
  targets: readonly string[],
  { params }: JobStats,
): Promise<readonly DiskProgress[]> {
  if (Number(params["memory_iteration"] ?? 0) > 0) return [];
  const all = await Promise.all(
    targets.map(async (target): Promise<DiskProgress | undefined> => {
      // A mirror that has not begun, or is over, has no job; the totals include it.
      const job = await libvirt
        .call("domainGetBlockJobInfo", { dom, path: target })
        .catch(() => undefined);
      if (!job?.found) return undefined;
      const total = Number(job.end);
      return { target, total, remaining: Math.max(0, total - Number(job.current)) };
    }),
  );
  return all.filter((disk) => disk !== undefined);
}
