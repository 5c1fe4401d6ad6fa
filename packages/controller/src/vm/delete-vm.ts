import { isDeleting } from "../plan/ownership.ts";
import { finalizersOf } from "./protect-vm.ts";
import { failedDelete, stopVmi } from "./stop-vmi.ts";
import type { Stop, VmPass } from "./vm-pass.ts";

/** Kubernetes's own: whoever deletes the VM wants to keep what belongs to it. */
const orphanFinalizer = "orphan";

/**
 * Stops the VMI of a VM that is being deleted. Once it is gone the VM may go too, which `settleVm` sees to:
 * the status is written first, because afterwards there may be no VM to write it to.
 */
export function deleteVm(pass: VmPass): Stop | undefined {
  if (!isDeleting(pass.vm)) return undefined;
  if (mayGo(pass)) return { kind: "settle" };
  const refusal = stopVmi(pass);
  return refusal ? failedDelete(refusal) : { kind: "settle" };
}

/** Whether nothing keeps a VM that is being deleted. */
export function mayGo(pass: VmPass): boolean {
  if (!isDeleting(pass.vm) || !pass.isUpToDate) return false;
  return !pass.vmi || finalizersOf(pass.vm).includes(orphanFinalizer);
}
