import type { Names } from "@virtkit/api/names";
import { defineResource, type Resource } from "@virtkit/kube";

/** Pods. */
export const podResource: Resource = defineResource({ version: "v1", plural: "pods", kind: "Pod" });

/** PersistentVolumeClaims. */
export const claimResource: Resource = defineResource({
  version: "v1",
  plural: "persistentvolumeclaims",
  kind: "PersistentVolumeClaim",
});

/** Nodes. */
export const nodeResource: Resource = defineResource({
  version: "v1",
  plural: "nodes",
  kind: "Node",
  namespaced: false,
});

/** The VMI resource of a platform. */
export function vmiResource({ groups }: Names): Resource {
  return defineResource({
    group: groups.core,
    version: "v1",
    plural: "virtualmachineinstances",
    kind: "VirtualMachineInstance",
  });
}
