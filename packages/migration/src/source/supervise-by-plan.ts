import type { Clock } from "@virtkit/api/clock";
import type { Observers } from "@virtkit/api/observe";
import type { DomainRef, Libvirt } from "@virtkit/domain-manager/libvirt";
import type { DriveParts } from "./drive-migration.ts";
import type { WatchedProgress } from "./migration-progress.ts";
import type { MigrationPlan } from "./plan-migration.ts";
import { superviseMigration } from "./supervise-migration.ts";

/** What a migration is supervised with. */
export interface SupervisorParts extends Pick<Observers, "log"> {
  /** A connection that *perform* does not hold. */
  readonly libvirt: Pick<Libvirt, "call" | "subscribe">;
  readonly dom: DomainRef;
  /** Hears of every step. */
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
  { policy, initialDowntimeMs }: Pick<MigrationPlan, "policy" | "initialDowntimeMs">,
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
      sample: () => libvirt.call("domainGetJobStats", { dom }),
      suspend: () => migration.suspend(),
    };
    await superviseMigration(migration, options, signal);
  };
}
