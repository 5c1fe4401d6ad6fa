import type { Names } from "@virtkit/api/names";
import type { VirtualMachineInstanceReplicaSet } from "@virtkit/api/schema";
import { at, object, text } from "@virtkit/api/shape";
import { apiVersionOf, type KubeObject, type OwnerReference } from "@virtkit/kube";
import { nameOf, uidOf } from "../plan/object-name.ts";
import { vmResources } from "../plan/vm-resources.ts";

/** A new VMI of a replica set; the API server completes its name. */
export function replicaOf(replicaSet: VirtualMachineInstanceReplicaSet, names: Names): KubeObject {
  const resource = vmResources(names).vmis;
  const { metadata, spec } = object(at(replicaSet, "spec", "template"));
  const { name: _, ...template } = object(metadata) as { name?: string };
  const { namespace } = nameOf(replicaSet);
  const replica = {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: {
      ...template,
      generateName: baseNameOf(replicaSet),
      ...(namespace === undefined ? {} : { namespace }),
      ownerReferences: [ownedBy(replicaSet, names)],
    },
    spec: object(spec),
  };
  return replica;
}

/** The owner reference that makes a VMI belong to a replica set. */
export function ownedBy(
  replicaSet: VirtualMachineInstanceReplicaSet,
  names: Names,
): OwnerReference {
  const { replicaSets } = vmResources(names);
  return {
    apiVersion: apiVersionOf(replicaSets),
    kind: replicaSets.kind,
    name: nameOf(replicaSet).name,
    uid: uidOf(replicaSet),
    controller: true,
    blockOwnerDeletion: true,
  };
}

function baseNameOf(replicaSet: VirtualMachineInstanceReplicaSet): string {
  const template = at(replicaSet, "spec", "template", "metadata");
  return (
    text(at(template, "name")) ||
    text(at(template, "generateName")) ||
    text(at(replicaSet, "metadata", "name"))
  );
}
