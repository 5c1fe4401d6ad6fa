import { runMemoryCondition } from "@virtkit/api/grant";
import { isDeleting } from "../plan/ownership.ts";
import { finalizersOf } from "./protect-vm.ts";
import { grantOf, runGrantRefused, unprovenRuns } from "./run-memory.ts";
import { failedDelete, stopVmi } from "./stop-vmi.ts";
import { failed, type Stop, type VmPass } from "./vm-pass.ts";

/** Kubernetes's own finalizer, set if the VM is deleted but its dependents must stay. */
const orphanFinalizer = "orphan";

/**
 * Stops the VMI of a VM that is being deleted. Once the VMI is gone, `settleVm` releases the VM:
 * the status is written first, because afterwards there may be no VM to write it to.
 */
export function deleteVm(pass: VmPass): Stop | undefined {
  if (!isDeleting(pass.vm)) return undefined;
  if (mayGo(pass)) return { kind: "settle" };
  const refusal = stopVmi(pass);
  if (refusal) return failedDelete(refusal);
  const unproven = pass.vmi ? undefined : unprovenText(pass);
  return unproven === undefined ? { kind: "settle" } : failed(runGrantRefused, unproven);
}

/**
 * Whether nothing holds a VM that is being deleted. With a run grant that is known as soon as the grant has
 * ended: the VM is released first, and its finalizer on the VMI is removed with the VMI's own. A missing VMI
 * is not proof: it may have been removed by force.
 */
export function mayGo(pass: VmPass): boolean {
  const { vmi, view } = pass;
  if (!isDeleting(pass.vm) || !pass.isUpToDate) return false;
  if (finalizersOf(pass.vm).includes(orphanFinalizer)) return true;
  if (!view.grant) return !vmi;
  if (unprovenText(pass) !== undefined) return false;
  return vmi ? isDeleting(vmi) && grantOf(pass, vmi).state === "Ended" : pass.demandLiveRead();
}

/** What holds a VM because it is unknown whether it still runs. */
function unprovenText(pass: VmPass): string | undefined {
  const unproven = unprovenRuns(pass);
  if (typeof unproven === "string") return unproven;
  if (unproven.length === 0) return undefined;
  const nodes = unproven.flatMap(({ pods = [] }) =>
    pods.flatMap(({ holder }) => holder?.node ?? []),
  );
  const unique = [...new Set(nodes)];
  const advice =
    unique.length > 0
      ? unique
          .map(
            (node) =>
              `make sure that node ${node} is off, then run "virtkit fence confirm ${node}"`,
          )
          .join("; ")
      : `make sure that it does not run anywhere, then remove the condition ${pass.config.names.own(runMemoryCondition)} from the VM's status`;
  const names = unproven.map(({ vmiUID }) => vmiUID).join(", ");
  return `VMI ${names} was removed by force, and its guest is not proven to have ended; ${advice}`;
}
