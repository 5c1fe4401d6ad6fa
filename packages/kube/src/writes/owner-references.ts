import { KubeError } from "../client/kube-error.ts";
import type { KubeObject, OwnerReference } from "../client/kube-object.ts";
import { apiVersionOf, type Resource } from "../client/resource.ts";

/**
 * An owner reference, which makes Kubernetes delete an object together with its owner. By default the owner is also
 * the controller; an object can have only one.
 */
export function ownerReferenceTo(
  resource: Resource,
  { metadata: { name, uid } }: KubeObject,
  { isController = true }: { readonly isController?: boolean } = {},
): OwnerReference {
  if (name === undefined || uid === undefined) {
    const message = "an owner must have a name and a UID; use the object as the server returned it";
    throw new KubeError("KUBE_INPUT_INVALID", message, { path: "metadata.uid" });
  }
  const { kind } = resource;
  const reference = { apiVersion: apiVersionOf(resource), kind, name, uid };
  return isController ? { ...reference, controller: true, blockOwnerDeletion: true } : reference;
}

/** Whether this object, by its UID, controls the other; a later object of the same name does not. */
export function isControlledBy(object: KubeObject, owner: KubeObject): boolean {
  const { uid } = owner.metadata;
  const references = object.metadata.ownerReferences ?? [];
  return uid !== undefined && references.some((one) => one.controller === true && one.uid === uid);
}
