import { number, text } from "@virtkit/api/shape";
import { goDurationMilliseconds } from "../plan/go-duration.ts";
import type { Plan } from "../plan/plan.ts";
import { PlanDraft } from "../plan/plan-draft.ts";
import type { WriteOutcome } from "../plan/write-outcome.ts";
import { activeMigrations, sortWorkloads } from "./outdated.ts";
import type { WorkloadConfig, WorkloadView } from "./workload-view.ts";
import { WorkloadWrites } from "./workload-writes.ts";

/** Seconds until the next look at outdated VMIs. */
const recheckSeconds = 30;

const defaultBatch = 10;
const defaultBatchInterval = 60_000;

/** What to do about VMIs, and whether a batch of them is evicted. */
export interface WorkloadPlan extends Plan {
  /** The time to remember for the last batch, if one is evicted. */
  readonly evictedAt?: number | undefined;
}

/**
 * Updates running VMIs to the cluster's launcher image, and brings changes that wait for a migration to their
 * guests: with a migration if that is possible and allowed, otherwise with an eviction, in batches. If a change was
 * reverted, the migration that it started is ended. Nothing is done while the cluster itself is being updated.
 *
 * @param now milliseconds since the epoch
 * @param outcomes of the writes so far; see `carryOut`
 * @param random from 0 up to, but not including, 1; shuffles the candidates, so that failing ones do not block the
 * others
 */
export function planWorkloadUpdate(
  view: WorkloadView,
  config: WorkloadConfig,
  now: number,
  outcomes: readonly WriteOutcome[] = [],
  { random }: { readonly random?: () => number } = {},
): WorkloadPlan {
  const draft = new PlanDraft(outcomes);
  if (view.expected !== undefined || !isDeployed(view)) return draft.finish();
  const workloads = sortWorkloads(view, config, now);
  const { migratable, evictable, aborted } = workloads;
  const writes = new WorkloadWrites(draft, view, config);
  const uncounted = writes.count(workloads.outdated.length);
  if (uncounted) return draft.finish(uncounted);
  if (migratable.length + evictable.length + aborted.length > 0) {
    draft.requeueAfter(recheckSeconds);
  }
  const places = Math.max(
    0,
    number(config.migrations.parallelMigrationsPerCluster) - activeMigrations(view, config),
  );
  const batch = evictable.slice(0, batchSize(view, now));
  for (const vmi of mixed(migratable, random).slice(0, places)) writes.migrate(vmi);
  for (const vmi of batch) writes.evict(vmi);
  for (const vmi of aborted) writes.abort(vmi);
  return {
    ...draft.finish(writes.error),
    ...(batch.length > 0 ? { evictedAt: now } : {}),
  };
}

function isDeployed({ kubevirt }: WorkloadView): boolean {
  const status = kubevirt.status;
  return (
    status?.phase === "Deployed" &&
    text(status.observedDeploymentID) === text(status.targetDeploymentID)
  );
}

/** How many may be evicted now. */
function batchSize({ kubevirt, lastEviction }: WorkloadView, now: number): number {
  const strategy = kubevirt.spec?.workloadUpdateStrategy;
  const interval =
    goDurationMilliseconds(text(strategy?.batchEvictionInterval)) ?? defaultBatchInterval;
  const isDue = lastEviction === undefined || now > lastEviction + interval;
  return isDue ? Math.max(0, number(strategy?.batchEvictionSize, defaultBatch)) : 0;
}

function mixed<T>(items: readonly T[], random: (() => number) | undefined): readonly T[] {
  if (!random) return items;
  return items
    .map((item) => ({ item, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
