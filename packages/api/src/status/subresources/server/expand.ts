import type { AppliedInstancetype } from "../../../admission/index.ts";
import { isApiError } from "../../../api-error.ts";
import type { ClusterConfig } from "../../../config/index.ts";
import { copyChecked } from "../../../copy-checked.ts";
import { defaultSpec, expansionDefaults } from "../../../defaults/index.ts";
import { expandVm } from "../../../instancetype/index.ts";
import { check, type VirtualMachine, VirtualMachineSchema } from "../../../schema/index.ts";
import { at, isSet, object } from "../../../shape.ts";
import { badRequest, conflict, notFound, type Refusal } from "../outcome.ts";
import { nameOf } from "../state-change.ts";
import type { SubresourcePlan } from "./subresource-plan.ts";
import type { SubresourceContext, SubresourceRequest } from "./subresource-request.ts";

/** `expand-spec`: the VM with its instance type and its preference in its template. */
export async function planExpandSpec(
  { namespace, name }: SubresourceRequest,
  context: SubresourceContext,
): Promise<SubresourcePlan> {
  const vm = await context.lookup.virtualMachine(namespace, name);
  if (!vm) return notFound("virtualmachine", name);
  return expanded(vm, context, (why) => conflict("virtualmachine", name, why));
}

/** `expand-vm-spec`: the same for a VM in the request, which need not exist. */
export async function planExpandVmSpec(
  { namespace, body }: SubresourceRequest,
  context: SubresourceContext,
): Promise<SubresourcePlan> {
  if (body.trim() === "") return badRequest("the body is empty; send a VirtualMachine");
  let sent: unknown;
  try {
    sent = JSON.parse(body);
  } catch (error) {
    return badRequest(`the body is not JSON: ${(error as Error).message.slice(0, 200)}`);
  }
  const { valid, value, issues } = check(VirtualMachineSchema, sent, { strict: true });
  if (!valid) {
    const all = issues.map(({ message }) => message).join("; ");
    return badRequest(`the body is not a VirtualMachine: ${all.slice(0, 1000)}`);
  }
  const own = at(value, "metadata", "namespace");
  if (isSet(own) && own !== "" && own !== namespace) {
    return badRequest(`metadata.namespace must be ${JSON.stringify(namespace)} or left out`);
  }
  const vm = { ...value, metadata: { ...object(value.metadata), namespace } };
  return expanded(vm as VirtualMachine, context, badRequest);
}

async function expanded(
  vm: VirtualMachine,
  { lookup, config }: SubresourceContext,
  refuse: (why: string) => Refusal,
): Promise<SubresourcePlan> {
  if (!isSet(at(vm, "spec", "instancetype")) && !isSet(at(vm, "spec", "preference"))) {
    return { kind: "answer", code: 200, body: vm };
  }
  const applied = await lookup.instancetypeOf(vm);
  if ("missing" in applied) return refuse(applied.missing);
  try {
    return expandedBy(vm, applied, config, refuse);
  } catch (error) {
    if (!isApiError(error)) throw error;
    return refuse(error.message);
  }
}

function expandedBy(
  vm: VirtualMachine,
  { instancetype, preference }: AppliedInstancetype,
  config: ClusterConfig,
  refuse: (why: string) => Refusal,
): SubresourcePlan {
  const copy = copyChecked(VirtualMachineSchema, vm);
  const spec = copy.spec.template.spec;
  if (!spec) return refuse(`spec.template.spec of VM ${JSON.stringify(nameOf(vm))} is missing`);
  expansionDefaults(spec, config);
  const result = expandVm(copy, instancetype, preference);
  if (result.kind === "refused") {
    return refuse(result.conflicts.map(({ message }) => message).join("; "));
  }
  const body = result.vm;
  if (body.spec.template.spec) defaultSpec(body.spec.template.spec, config);
  const { instancetype: _, preference: __, ...rest } = body.spec;
  const { instancetypeRef: ___, preferenceRef: ____, ...status } = body.status ?? {};
  return { kind: "answer", code: 200, body: { ...body, spec: rest, status } };
}
