import { isDeepStrictEqual } from "node:util";
import { semanticallyEqual } from "@virtkit/api/admission";
import {
  type VirtualMachine,
  type VirtualMachineSpec,
  VirtualMachineSpecSchema,
} from "@virtkit/api/schema";
import { at, entry, object, text } from "@virtkit/api/shape";
import { fieldPatch, valuePatch, versionTest } from "../plan/field-patch.ts";
import { nameOf } from "../plan/object-name.ts";
import type { PlanError } from "../plan/plan.ts";
import { indexedVm } from "./indexed-vm.ts";
import { type PoolPass, poolError } from "./pool-pass.ts";
import { ensureRevision, revisionNameOf, storedSpec } from "./pool-revision.ts";
import type { VmTemplate } from "./pool-view.ts";
import { refreshVmis } from "./refresh-vmis.ts";
import type { StepResult } from "./scale-pool.ts";
import { indexOf, selected } from "./selection.ts";

/** Updates the VMs to the pool's template and then, depending on its strategy, their VMIs. */
export function updatePool(pass: PoolPass): StepResult {
  const { unmanaged, opportunistic, proactive } = pass.pool.spec.updateStrategy ?? {};
  if (unmanaged) return { isStable: true };
  const chosen = selected(pass.vms, proactive?.selectionPolicy);
  if ("problem" in chosen) return failedUpdate(chosen.problem);
  const outdated = chosen.vms.filter((vm) => isOutdated(pass, vm));
  const problem = updateVms(pass, outdated);
  if (problem !== undefined) return failedUpdate(problem);
  if (!opportunistic) {
    const current = chosen.vms.filter((vm) => !outdated.includes(vm));
    const error = refreshVmis(pass, current);
    if (error !== undefined) return failedUpdate(error);
  }
  return { isStable: outdated.length === 0 };
}

function failedUpdate(message: string): { isStable: false; error: PlanError } {
  return { isStable: false, error: poolError("FailedUpdate", message) };
}

/** Whether a VM was made from a template other than the pool's present one. */
function isOutdated(pass: PoolPass, vm: VirtualMachine): boolean {
  const label = pass.config.names.labels.poolRevision;
  const revision = entry(at(vm, "metadata", "labels"), label);
  const stored = revision === undefined ? undefined : storedSpec(pass, revision);
  if (!stored) return true;
  return !sameTemplate(stored.virtualMachineTemplate, pass.pool.spec.virtualMachineTemplate);
}

function sameTemplate(a: VmTemplate | undefined, b: VmTemplate | undefined): boolean {
  const metadata = (template: VmTemplate | undefined): unknown => [
    object(template?.metadata?.labels),
    object(template?.metadata?.annotations),
  ];
  const spec = (template: VmTemplate | undefined): VirtualMachineSpec =>
    object(template?.spec) as unknown as VirtualMachineSpec;
  return (
    isDeepStrictEqual(metadata(a), metadata(b)) &&
    semanticallyEqual(VirtualMachineSpecSchema, spec(a), spec(b))
  );
}

/** Tries all of them and reports the first failure. */
function updateVms(pass: PoolPass, vms: readonly VirtualMachine[]): string | undefined {
  if (vms.length === 0) return undefined;
  const refused = ensureRevision(pass);
  if (refused) return `the pool's spec could not be stored: ${refused.message}`;
  let problem: string | undefined;
  for (const vm of vms) {
    const failure = updateVm(pass, vm);
    problem ??= failure;
  }
  return problem;
}

function updateVm(pass: PoolPass, vm: VirtualMachine): string | undefined {
  const target = nameOf(vm);
  const index = indexOf(vm);
  if (index === undefined)
    return `VM ${target.name} has no number at the end of its name; rename or delete it`;
  const { labels, annotations, spec } = indexedVm(pass, index, revisionNameOf(pass.pool));
  const refusal = pass.draft.write({
    kind: "patch",
    resource: pass.resources.vms,
    object: target,
    operations: [
      ...versionTest(vm),
      ...valuePatch("/metadata/labels", at(vm, "metadata", "labels"), labels),
      ...valuePatch("/metadata/annotations", at(vm, "metadata", "annotations"), annotations),
      ...fieldPatch("/spec", vm.spec, { ...withIdentity(spec, vm) }),
    ],
  });
  if (!refusal) {
    const message = `VM ${target.name} was updated to the pool's template`;
    pass.draft.event({ type: "Normal", reason: "SuccessfulUpdate", message });
    return undefined;
  }
  const message = `VM ${target.name} could not be updated: ${refusal.message}`;
  pass.draft.event({ type: "Warning", reason: "FailedUpdate", message });
  return message;
}

/** The UUID and serial number of the firmware identify a guest, so they stay. */
function withIdentity(spec: VirtualMachineSpec, vm: VirtualMachine): VirtualMachineSpec {
  const present = at(vm, "spec", "template", "spec", "domain", "firmware");
  if (present === undefined) return spec;
  const identity = ["uuid", "serial"].flatMap((field) => {
    const value = text(at(present, field));
    return value ? [[field, value]] : [];
  });
  const template = object(at(spec, "template"));
  const inner = object(template["spec"]);
  const domain = object(inner["domain"]);
  const firmware = { ...object(domain["firmware"]), ...Object.fromEntries(identity) };
  const changed = { ...template, spec: { ...inner, domain: { ...domain, firmware } } };
  return { ...spec, template: changed as unknown as VirtualMachineSpec["template"] };
}
