import type { VirtualMachineInstance } from "../../../schema/index.ts";
import { at, objects } from "../../../shape.ts";
import { conflict, notFound, type Refusal } from "../outcome.ts";
import type { SubresourceContext, SubresourceRequest } from "./subresource-request.ts";

/** The VMI that a request is for: the one of the name, or that of the VM of the name. */
export async function vmiOf(
  { route, namespace, name }: SubresourceRequest,
  { lookup }: SubresourceContext,
): Promise<Refusal | { readonly vmi: VirtualMachineInstance }> {
  const vm =
    route.resource === "virtualmachines" ? await lookup.virtualMachine(namespace, name) : undefined;
  if (route.resource === "virtualmachines") {
    if (!vm) return notFound("virtualmachine", name);
    if (at(vm, "status", "created") !== true) {
      return conflict("virtualmachine", name, "it has no VMI; start it");
    }
  }
  const vmi = await lookup.virtualMachineInstance(namespace, name);
  if (!vmi) return notFound("virtualmachineinstance", name);
  if (vm && !isOwned(vmi, at(vm, "metadata", "uid"))) {
    return conflict("virtualmachine", name, "the VMI of its name has another owner");
  }
  return { vmi };
}

function isOwned(vmi: VirtualMachineInstance, uid: unknown): boolean {
  return objects(at(vmi, "metadata", "ownerReferences")).some(
    (reference) => reference["uid"] === uid,
  );
}
