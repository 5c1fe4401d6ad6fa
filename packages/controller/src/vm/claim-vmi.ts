import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { at, objects, text } from "@virtkit/api/shape";
import { controlledBy, inNamespaceOf } from "@virtkit/api/status/vm";
import { apiError } from "../plan/api-error.ts";
import { valuePatch } from "../plan/field-patch.ts";
import { nameOf } from "../plan/object-name.ts";
import { adoption, isDeleting, judgeClaim } from "../plan/ownership.ts";
import type { PlanError } from "../plan/plan.ts";
import { dataVolumeResource } from "../plan/vm-resources.ts";
import { finalizersOf } from "./protect-vm.ts";
import type { Stop, VmPass } from "./vm-pass.ts";

/** Claims the VMI of the VM's name; adopts it if it has no owner. */
export function claimVmi(pass: VmPass): Stop | undefined {
  const { vmi } = pass.view;
  if (!vmi) return undefined;
  const verdict = judgeClaim(vmi, pass.vm, true);
  if (verdict === "own") pass.vmi = vmi;
  if (verdict !== "adopt") return undefined;
  const refusal = pass.draft.write({
    kind: "patch",
    resource: pass.resources.vmis,
    object: nameOf(vmi),
    operations: [
      ...adoption(vmi, controlledBy(pass.vm, pass.config.names)),
      ...heldByVm(pass, vmi),
    ],
  });
  if (refusal?.reason === "NotFound") return undefined;
  if (refusal) return { kind: "end", error: apiError(refusal) };
  pass.vmi = vmi;
  return undefined;
}

/** The VM must see how its VMI ends; otherwise it could not forget it. */
function heldByVm(pass: VmPass, vmi: VirtualMachineInstance): ReturnType<typeof adoption> {
  const before = finalizersOf(vmi);
  const finalizer = pass.config.names.finalizers.vm;
  if (!pass.view.grant || before.includes(finalizer) || isDeleting(vmi)) return [];
  const found = at(vmi, "metadata", "finalizers");
  return valuePatch("/metadata/finalizers", found, [...before, finalizer]);
}

/** Adopts DataVolumes without an owner that have the names of the VM's templates. */
export function claimDataVolumes(pass: VmPass): Stop | undefined {
  let error: PlanError | undefined;
  for (const template of objects(at(pass.vm, "spec", "dataVolumeTemplates"))) {
    const name = text(at(template, "metadata", "name"));
    const found = inNamespaceOf(pass.vm, name, pass.view.dataVolumes);
    if (!found || judgeClaim(found, pass.vm, true) !== "adopt") continue;
    const refusal = pass.draft.write({
      kind: "patch",
      resource: dataVolumeResource,
      object: nameOf(found),
      operations: adoption(found, controlledBy(pass.vm, pass.config.names)),
    });
    if (!refusal || refusal.reason === "NotFound") continue;
    const message = `DataVolume ${name} could not be adopted: ${refusal.message}`;
    error ??= { kind: "other", reason: refusal.reason, message };
  }
  return error ? { kind: "end", error } : undefined;
}
