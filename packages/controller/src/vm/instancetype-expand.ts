import { defaultSpec } from "@virtkit/api/defaults";
import { isApiError } from "@virtkit/api/errors";
import { applyInstancetype } from "@virtkit/api/instancetype";
import { defaultNetwork } from "@virtkit/api/network";
import type {
  Disk,
  VirtualMachine,
  VirtualMachineInstanceSpec,
  VirtualMachineStatus,
} from "@virtkit/api/schema";
import { at, objects, text } from "@virtkit/api/shape";
import { fieldPatch } from "../plan/field-patch.ts";
import { nameOf, uidOf } from "../plan/object-name.ts";
import { revisionResource } from "../plan/vm-resources.ts";
import type { FoundTypes } from "./instancetype-lookup.ts";
import { failed, type Stop, type VmPass } from "./vm-pass.ts";

type Types = Exclude<FoundTypes, { readonly problem: string }>;

/** Copies the values of instance type and preference into the VM and removes the references. */
export function expandIntoVm(pass: VmPass, types: Types): Stop {
  const { vm } = pass;
  const result = expandedSpec(pass, types);
  if ("problem" in result) {
    return failed("UnsupportedSyncError", `the VM cannot be expanded: ${result.problem}`);
  }
  const { instancetype: _, preference: __, ...spec } = vm.spec;
  const { instancetypeRef, preferenceRef, ...status } = (vm.status ?? {}) as VirtualMachineStatus;
  const { metadata, annotations } = { metadata: vm.spec.template.metadata, ...result };
  const template: VirtualMachine["spec"]["template"] = {
    ...vm.spec.template,
    ...(annotations && Object.keys(annotations).length > 0
      ? { metadata: { ...metadata, annotations: { ...annotations } } }
      : {}),
    spec: result.spec,
  };
  const expanded: VirtualMachine = { ...vm, spec: { ...spec, template }, status };
  const refusal = pass.patchVm(fieldPatch("/spec", vm.spec, { ...expanded.spec }), {
    guarded: true,
  });
  if (refusal) {
    return failed("UnsupportedSyncError", `the VM could not be expanded: ${refusal.message}`);
  }
  pass.vm = expanded;
  const names = [instancetypeRef, preferenceRef].map((ref) =>
    text(at(ref, "controllerRevisionRef", "name")),
  );
  for (const name of names) {
    const problem = deleteRevision(pass, name);
    if (problem !== undefined) return failed("FailedCreate", problem);
  }
  return { kind: "settle" };
}

/** The stored copies are not needed any more. */
function deleteRevision(pass: VmPass, name: string): string | undefined {
  const revision = pass.view.revisions?.find((item) => nameOf(item).name === name);
  if (!revision) return undefined;
  const refusal = pass.draft.write({
    kind: "delete",
    resource: revisionResource,
    object: nameOf(revision),
    uid: uidOf(revision),
  });
  return refusal && `ControllerRevision ${name} could not be deleted: ${refusal.message}`;
}

interface ExpandedSpec {
  readonly spec: VirtualMachineInstanceSpec;
  readonly annotations: Readonly<Record<string, string>> | undefined;
}

/** Preferences apply to disks and interfaces, so the automatic ones are added first. */
function expandedSpec(
  { vm, config }: VmPass,
  types: Types,
): ExpandedSpec | { readonly problem: string } {
  const draft = structuredClone(vm.spec.template.spec) as VirtualMachineInstanceSpec;
  addDisks(draft);
  const network = defaultNetwork(draft, config);
  if (network.kind === "refused") return { problem: network.message };
  if (network.kind === "add") {
    draft.networks = network.networks;
    if (network.interfaces.length > 0) draft.domain.devices.interfaces = network.interfaces;
  }
  const annotations = vm.spec.template.metadata?.annotations;
  const applied = applyInstancetype({ spec: draft, annotations, ...types });
  if (applied.kind !== "applied") {
    const faults = applied.kind === "conflicts" ? applied.conflicts : [applied.problem];
    return { problem: faults.map(({ message }) => message).join("; ") };
  }
  const spec = structuredClone(applied.spec);
  try {
    defaultSpec(spec, config);
  } catch (error) {
    if (!isApiError(error)) throw error;
    return { problem: error.message };
  }
  return { spec, annotations: applied.annotations };
}

function addDisks({ domain, volumes }: VirtualMachineInstanceSpec): void {
  const { devices } = domain;
  const used = [...objects<Disk>(devices.disks), ...objects<Disk>(devices.filesystems)];
  const names = new Set(used.map(({ name }) => name));
  const added = (volumes ?? []).filter(({ name }) => !names.has(name));
  if (added.length === 0) return;
  devices.disks = [...(devices.disks ?? []), ...added.map(({ name }) => ({ name }))];
}
