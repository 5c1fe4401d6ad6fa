import type { VirtualMachine } from "@virtkit/api/schema";
import { apiError } from "../plan/api-error.ts";
import { nameOf, uidOf } from "../plan/object-name.ts";
import type { PlanError } from "../plan/plan.ts";
import { withoutFinalizer } from "./pool-finalizer.ts";
import type { PoolPass } from "./pool-pass.ts";
import { preserveState } from "./preserve-state.ts";

/** Deletes VMs of the pool. A failure does not stop the others. */
export function removeVms(pass: PoolPass, vms: readonly VirtualMachine[]): PlanError | undefined {
  const preserves = isPreserved(pass.pool.spec.scaleInStrategy?.proactive?.statePreservation);
  let error: PlanError | undefined;
  for (const vm of vms) {
    const problem = removeVm(pass, vm, preserves);
    error ??= problem;
  }
  return error;
}

/** Whether volumes outlive the VM. */
export function isPreserved(statePreservation: string | undefined): boolean {
  return statePreservation !== undefined && statePreservation !== "Disabled";
}

/** What is to be kept is detached from the VM first; otherwise it would be collected with it. */
function removeVm(pass: PoolPass, vm: VirtualMachine, preserves: boolean): PlanError | undefined {
  const target = nameOf(vm);
  const kept = preserves ? preserveState(pass, vm) : undefined;
  if (kept) return failedUpdate(pass, vm, kept);
  const refusal = pass.draft.write({
    kind: "delete",
    resource: pass.resources.vms,
    object: target,
    uid: uidOf(vm),
  });
  if (refusal) {
    const message = `VM ${target.name} could not be deleted: ${refusal.message}`;
    pass.draft.event({ type: "Warning", reason: "FailedDelete", message });
    return apiError(refusal);
  }
  pass.isUpToDate = false;
  const released = letGo(pass, vm);
  const error = released && failedUpdate(pass, vm, released);
  const message = `VM ${target.name} (UID ${uidOf(vm)}) was deleted`;
  pass.draft.event({ type: "Normal", reason: "SuccessfulDelete", message });
  return error;
}

/** Removes the pool's finalizer from a VM. */
export function letGo(pass: PoolPass, vm: VirtualMachine): PlanError | undefined {
  const operations = withoutFinalizer(vm, pass.config.names.finalizers.pool);
  if (operations.length === 0) return undefined;
  const refusal = pass.draft.write({
    kind: "patch",
    resource: pass.resources.vms,
    object: nameOf(vm),
    operations,
  });
  return refusal && refusal.reason !== "NotFound" ? apiError(refusal) : undefined;
}

/** Reports that a VM could not be released. */
export function failedUpdate(pass: PoolPass, vm: VirtualMachine, error: PlanError): PlanError {
  const message = `VM ${nameOf(vm).name} could not be released: ${error.message}`;
  pass.draft.event({ type: "Warning", reason: "FailedUpdate", message });
  return error;
}
