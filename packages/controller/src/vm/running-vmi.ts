import type {
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineInstanceSpec,
} from "@virtkit/api/schema";
import { at, isObject } from "@virtkit/api/shape";
import { isDeleting } from "../plan/ownership.ts";
import { InstancetypeLookup } from "./instancetype-lookup.ts";
import { failed, type Stop, type VmPass } from "./vm-pass.ts";

/** What a live change compares: the VMI, and the spec that the VM wants for it. */
export interface Change {
  readonly vmi: VirtualMachineInstance;
  /** The template with instance type and preference applied. */
  readonly wanted: VirtualMachineInstanceSpec;
}

function templateSpec(vm: VirtualMachine): VirtualMachineInstanceSpec {
  const spec = at(vm, "spec", "template", "spec");
  return (isObject(spec) ? spec : { domain: {} }) as unknown as VirtualMachineInstanceSpec;
}

/** Makes a live change, unless there is no VMI or it is being deleted. */
export function changing(
  pass: VmPass,
  reason: string,
  change: (change: Change) => string | undefined,
): Stop | undefined {
  const { vmi } = pass;
  if (!vmi || isDeleting(vmi)) return undefined;
  const expanded = new InstancetypeLookup(pass).expand(pass.vm);
  const problem =
    "problem" in expanded ? expanded.problem : change({ vmi, wanted: templateSpec(expanded.vm) });
  return problem === undefined ? undefined : failed(reason, problem);
}
