import type { VirtualMachine, VirtualMachineCondition } from "@virtkit/api/schema";
import { at, isSet, number, text } from "@virtkit/api/shape";
import { conditionsOf, findCondition } from "@virtkit/api/status";
import { goDurationMilliseconds } from "../plan/go-duration.ts";
import { uidOf } from "../plan/object-name.ts";
import { isControlledBy, isDeleting } from "../plan/ownership.ts";
import type { PlanError } from "../plan/plan.ts";
import type { PoolPass } from "./pool-pass.ts";
import { removeVms } from "./remove-vms.ts";

const defaultThreshold = 3;
const defaultDuration = 5 * 60_000;

/** Statuses of VMs that will not start without help. */
const hopeless = new Set([
  "CrashLoopBackOff",
  "ErrorUnschedulable",
  "DataVolumeError",
  "ErrorPvcNotFound",
  "ErrImagePull",
  "ImagePullBackOff",
]);

/**
 * Deletes own VMs that repeatedly fail to start, so that the pool creates new ones. A pool that is paused or being deleted
 * would create none.
 */
export function autoheal(pass: PoolPass): PlanError | undefined {
  const { autohealing, paused } = pass.pool.spec ?? {};
  if (!isSet(autohealing) || paused === true || isDeleting(pass.pool)) return undefined;
  const failing = pass.view.vms.filter(
    (vm) => isControlledBy(vm, uidOf(pass.pool)) && !isDeleting(vm) && isFailing(pass, vm),
  );
  return removeVms(pass, failing);
}

/** Whether a VM has failed often or for long enough. If it only has to fail for longer, nothing but time would show that. */
function isFailing({ pool, now, draft }: PoolPass, vm: VirtualMachine): boolean {
  const { startUpFailureThreshold, minFailingToStartDuration } = pool.spec.autohealing ?? {};
  const failures = number(at(vm, "status", "startFailure", "consecutiveFailCount"));
  if (failures > 0 && failures >= number(startUpFailureThreshold, defaultThreshold)) return true;
  if (!hopeless.has(text(at(vm, "status", "printableStatus")))) return false;
  const ready = findCondition(conditionsOf<VirtualMachineCondition>(vm), "Ready");
  if (ready?.status !== "False") return false;
  // Without a time it is unknown for how long the VM has failed, so it is not deleted.
  const since = Date.parse(text(ready.lastProbeTime) || text(ready.lastTransitionTime));
  const least = goDurationMilliseconds(text(minFailingToStartDuration)) ?? defaultDuration;
  const left = since + least - now;
  if (left > 0) draft.requeueAfter(Math.ceil(left / 1000));
  return left <= 0;
}
