import type {
  VirtualMachine,
  VirtualMachineInstanceSpec,
  VirtualMachineInstancetypeSpec,
  VirtualMachinePreferenceSpec,
} from "../schema/index.ts";
import { at, object } from "../shape.ts";
import { applyInstancetype } from "./apply-instancetype.ts";
import type { InstancetypeConflict } from "./conflict.ts";
import { part } from "./spec-draft.ts";
import { spreadProblem } from "./spread-check.ts";

/** The VM with everything from its instance type and preference in its template, or why that is not possible. */
export type ExpandedVm =
  | { readonly kind: "expanded"; readonly vm: VirtualMachine }
  | { readonly kind: "refused"; readonly conflicts: readonly InstancetypeConflict[] };

/**
 * Applies an instance type and a preference to the template of a VM. Check what the preference requires
 * (`unmetRequirement`) after the defaults are set. The VM is not changed.
 */
export function expandVm(
  vm: VirtualMachine,
  instancetype: VirtualMachineInstancetypeSpec | undefined,
  preference: VirtualMachinePreferenceSpec | undefined,
): ExpandedVm {
  const uneven = spreadProblem(instancetype, preference);
  if (uneven) return { kind: "refused", conflicts: [uneven.conflict] };
  const template = object(at(vm, "spec", "template"));
  const result = applyInstancetype({
    spec: object(template["spec"]) as unknown as VirtualMachineInstanceSpec,
    annotations: object(at(template, "metadata", "annotations")) as Record<string, string>,
    instancetype,
    preference,
  });
  if (result.kind === "conflicts") return { kind: "refused", conflicts: result.conflicts };
  if (result.kind === "invalid") return { kind: "refused", conflicts: [result.problem] };
  const draft = { ...object(vm) };
  const { spec, annotations } = result;
  part(draft, "spec", "template")["spec"] = spec;
  if (Object.keys(annotations ?? {}).length > 0) {
    part(draft, "spec", "template", "metadata")["annotations"] = annotations;
  }
  return { kind: "expanded", vm: draft as unknown as VirtualMachine };
}
