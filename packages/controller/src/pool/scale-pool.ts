import { number } from "@virtkit/api/shape";
import { isDeleting } from "../plan/ownership.ts";
import type { PlanError } from "../plan/plan.ts";
import { createVms } from "./create-vms.ts";
import { type PoolPass, poolError } from "./pool-pass.ts";
import { preserveState } from "./preserve-state.ts";
import { failedUpdate, isPreserved, letGo, removeVms } from "./remove-vms.ts";
import { selected, victimsOf } from "./selection.ts";

/** At most this many VMs are created or deleted in one pass. */
const burst = 250;

/** How far a step has come; the next one begins when it is stable. */
export interface StepResult {
  readonly isStable: boolean;
  readonly error?: PlanError | undefined;
}

/** How many VMs a pool is to have. */
export function wantedVms({ pool }: PoolPass): number {
  return number(pool.spec?.replicas, 1);
}

/** Creates missing VMs, or deletes surplus ones. */
export function scalePool(pass: PoolPass): StepResult {
  const excess = pass.vms.length - wantedVms(pass);
  if (excess === 0) return { isStable: true, error: releaseDeleted(pass, false) };
  if (excess < 0) return { isStable: false, error: createVms(pass, Math.min(-excess, burst)) };
  const error = releaseDeleted(pass, true) ?? scaleIn(pass, Math.min(excess, burst));
  return { isStable: false, error };
}

function scaleIn(pass: PoolPass, excess: number): PlanError | undefined {
  const { unmanaged, opportunistic, proactive } = pass.pool.spec.scaleInStrategy ?? {};
  if (unmanaged || opportunistic) return undefined;
  const { staying, vms } = pass;
  const count = Math.min(excess - (vms.length - staying.length), staying.length);
  if (count <= 0) return undefined;
  const allowed = selected(
    victimsOf(staying, proactive?.selectionPolicy),
    proactive?.selectionPolicy,
  );
  if ("problem" in allowed) return poolError("FailedScaleIn", allowed.problem);
  const error = removeVms(pass, allowed.vms.slice(0, count));
  if (error) return poolError("FailedScaleIn", `VMs could not be deleted: ${error.message}`);
  const kept = count - allowed.vms.length;
  if (kept <= 0) return undefined;
  const message = `${kept} surplus VMs are kept, because scaleInStrategy.proactive.selectionPolicy.selectors does not select more; widen it`;
  return poolError("FailedScaleIn", message);
}

/**
 * Releases VMs that somebody else has deleted, and those that a pass deleted right before it was cut off. A surplus VM
 * goes as the pool itself would let it go; any other is replaced, and keeps its volumes only if the pool leaves deletions to
 * others.
 */
function releaseDeleted(pass: PoolPass, areSurplus: boolean): PlanError | undefined {
  const { unmanaged, opportunistic, proactive } = pass.pool.spec.scaleInStrategy ?? {};
  if (unmanaged) return undefined;
  const strategies = areSurplus ? [opportunistic, proactive] : [opportunistic];
  const preserves = strategies.some((each) => isPreserved(each?.statePreservation));
  let error: PlanError | undefined;
  for (const vm of pass.vms.filter(isDeleting)) {
    const problem = (preserves ? preserveState(pass, vm) : undefined) ?? letGo(pass, vm);
    if (problem) error = failedUpdate(pass, vm, problem);
  }
  return error && poolError("FailedScaleIn", `VMs could not be released: ${error.message}`);
}
