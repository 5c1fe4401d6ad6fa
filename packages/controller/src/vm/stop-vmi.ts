import { nameOf, uidOf } from "../plan/object-name.ts";
import { isDeleting } from "../plan/ownership.ts";
import type { Refusal } from "../plan/write-outcome.ts";
import { withoutRestartRequired } from "./restart-condition.ts";
import { failed, type Stop, type VmPass } from "./vm-pass.ts";

/** Deletes the VMI, which ends the guest; returns why that was refused. */
export function stopVmi(pass: VmPass): Refusal | undefined {
  const { vmi, draft } = pass;
  if (!vmi || isDeleting(vmi)) return undefined;
  const target = nameOf(vmi);
  const uid = uidOf(vmi);
  const refusal = draft.write({
    kind: "delete",
    resource: pass.resources.vmis,
    object: target,
    uid,
  });
  if (refusal) {
    const message = `VMI ${target.name} could not be deleted: ${refusal.message}`;
    draft.event({ type: "Warning", reason: "FailedDelete", message });
    return refusal;
  }
  pass.expected = { ...pass.expected, vmi: "deletion" };
  pass.vm = withoutRestartRequired(pass.vm);
  const message = `VMI ${target.name} (UID ${uid}) was deleted to stop the VM`;
  draft.event({ type: "Normal", reason: "SuccessfulDelete", message });
  return undefined;
}

/** The VM keeps a VMI that it should not have. */
export function failedDelete({ message }: Refusal): Stop {
  return failed("FailedDelete", `the VMI could not be deleted: ${message}`);
}
