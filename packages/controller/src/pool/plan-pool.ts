import { at, isSet } from "@virtkit/api/shape";
import { apiError } from "../plan/api-error.ts";
import { valuePatch } from "../plan/field-patch.ts";
import { readSelector, type Selector } from "../plan/label-selector.ts";
import { nameOf } from "../plan/object-name.ts";
import { isDeleting } from "../plan/ownership.ts";
import type { Plan, PlanError } from "../plan/plan.ts";
import { PlanDraft } from "../plan/plan-draft.ts";
import type { WriteOutcome } from "../plan/write-outcome.ts";
import { autoheal } from "./autoheal.ts";
import { claimVms } from "./claim-vms.ts";
import { releasePool, releaseVms } from "./delete-pool.ts";
import { PoolPass } from "./pool-pass.ts";
import { pruneRevisions } from "./pool-revision.ts";
import { writePoolStatus } from "./pool-status.ts";
import type { PoolConfig, PoolView } from "./pool-view.ts";
import { scalePool } from "./scale-pool.ts";
import { updatePool } from "./update-pool.ts";

/**
 * Decides what to do about a pool: VMs to create, delete and update to its template, and its
 * status.
 *
 * Only VMs that belong to the pool are touched. If VMs must be deleted and the pool does not say which, those that
 * are not ready go first, then the newest; see `victimsOf`.
 *
 * @param now milliseconds since the epoch
 * @param outcomes of the writes so far; see `carryOut`
 */
export function planPool(
  view: PoolView,
  config: PoolConfig,
  now: number,
  outcomes: readonly WriteOutcome[] = [],
): Plan {
  const draft = new PlanDraft(outcomes);
  const pass = new PoolPass(view, config, now, draft);
  const selector = selectorOf(view);
  if (!selector) return draft.finish();
  const early = autoheal(pass) ?? claimVms(pass, selector) ?? protectPool(pass);
  if (early) return draft.finish(early);
  const isGoing = isDeleting(view.pool);
  if (isGoing) {
    const error = releaseVms(pass, selector);
    if (error) return draft.finish(error);
  }
  const error = isGoing ? pruneRevisions(pass) : sync(pass);
  const refused =
    writePoolStatus(pass, selector, error) ?? (isGoing ? releasePool(pass) : undefined);
  return draft.finish(refused ?? error);
}

/** A pool that does not select its own template would create VMs forever. */
function selectorOf({ pool }: PoolView): Selector | undefined {
  const selector = readSelector(pool.spec?.selector);
  const labels = at(pool, "spec", "virtualMachineTemplate", "metadata", "labels");
  return selector?.matches(labels) ? selector : undefined;
}

function protectPool(pass: PoolPass): PlanError | undefined {
  const finalizer = pass.config.names.finalizers.pool;
  const before = pass.pool.metadata.finalizers;
  if (isDeleting(pass.pool) || before?.includes(finalizer)) return undefined;
  pass.isPoolWritten = true;
  const refusal = pass.draft.write({
    kind: "patch",
    resource: pass.resources.pools,
    object: nameOf(pass.pool),
    operations: valuePatch("/metadata/finalizers", before, [...(before ?? []), finalizer]),
  });
  return refusal && refusal.reason !== "NotFound" ? apiError(refusal) : undefined;
}

/** Each step waits until the previous one has nothing left to do. */
function sync(pass: PoolPass): PlanError | undefined {
  if (!pass.isUpToDate || pass.pool.spec?.paused === true) return undefined;
  const scaled = scalePool(pass);
  if (isSet(scaled.error) || !scaled.isStable || !pass.isUpToDate) return scaled.error;
  const updated = updatePool(pass);
  if (isSet(updated.error) || !updated.isStable || !pass.isUpToDate) return updated.error;
  return pruneRevisions(pass);
}
