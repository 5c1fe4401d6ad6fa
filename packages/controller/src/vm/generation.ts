import { semanticallyEqual } from "@virtkit/api/admission";
import {
  type VirtualMachineInstance,
  type VirtualMachineInstanceTemplateSpec,
  VirtualMachineInstanceTemplateSpecSchema,
} from "@virtkit/api/schema";
import { at, entry, isObject, number, object, text } from "@virtkit/api/shape";
import { apiError } from "../plan/api-error.ts";
import { valuePatch } from "../plan/field-patch.ts";
import { nameOf } from "../plan/object-name.ts";
import { generationOf } from "./start-spec.ts";
import type { Stop, VmPass } from "./vm-pass.ts";
import type { ControllerRevision } from "./vm-view.ts";

/**
 * Records on the VMI that it matches the VM's latest generation, if nothing in the template has
 * changed since its start.
 */
export function bumpGeneration(pass: VmPass): Stop | undefined {
  const { vmi, vm } = pass;
  const generation = number(at(vm, "metadata", "generation"));
  if (!vmi || annotationOf(pass, vmi) === String(generation)) return undefined;
  const started = at(revisionOf(pass, vmi), "data", "spec", "template");
  if (!isTemplate(started)) return undefined;
  const { template } = vm.spec;
  const isSame = semanticallyEqual(VirtualMachineInstanceTemplateSpecSchema, started, template);
  return isSame ? annotate(pass, vmi, generation) : undefined;
}

/**
 * Records on the VMI which generation it was made from, by the name of the stored spec, if that is
 * missing.
 */
export function backfillGeneration(pass: VmPass): Stop | undefined {
  const { vmi } = pass;
  if (!vmi || /^[+-]?\d+$/.test(annotationOf(pass, vmi) ?? "")) return undefined;
  const revision = revisionOf(pass, vmi);
  const generation = revision && generationOf(nameOf(revision).name);
  return generation === undefined ? undefined : annotate(pass, vmi, generation);
}

function isTemplate(value: unknown): value is VirtualMachineInstanceTemplateSpec {
  return isObject(value);
}

function annotationOf({ config }: VmPass, vmi: VirtualMachineInstance): string | undefined {
  return entry(at(vmi, "metadata", "annotations"), config.names.annotations.vmGeneration);
}

function annotate(pass: VmPass, vmi: VirtualMachineInstance, generation: number): Stop | undefined {
  const before = at(vmi, "metadata", "annotations");
  const name = pass.config.names.annotations.vmGeneration;
  const annotations = {
    ...(object(before) as Record<string, string>),
    [name]: String(generation),
  };
  const refusal = pass.patchVmi(valuePatch("/metadata/annotations", before, annotations));
  if (refusal) return { kind: "end", error: apiError(refusal) };
  pass.vmi = { ...vmi, metadata: { ...vmi.metadata, annotations } };
  return undefined;
}

function revisionOf({ view }: VmPass, vmi: VirtualMachineInstance): ControllerRevision | undefined {
  const name = text(at(vmi, "status", "virtualMachineRevisionName"));
  return view.revisions?.find((revision) => nameOf(revision).name === name);
}
