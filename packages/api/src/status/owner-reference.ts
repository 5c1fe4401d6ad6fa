import type { Names } from "../names/index.ts";
import type { OwnerReference, VirtualMachine } from "../schema/index.ts";
import { at, text } from "../shape.ts";
import { uidOf } from "./state-change-requests.ts";

/** The owner reference that makes an object belong to a VM and be deleted with it. */
export function controlledBy(vm: VirtualMachine, names: Names): OwnerReference {
  return {
    apiVersion: `${names.groups.core}/v1`,
    kind: "VirtualMachine",
    name: text(at(vm, "metadata", "name")),
    uid: uidOf(vm),
    controller: true,
    blockOwnerDeletion: true,
  };
}
