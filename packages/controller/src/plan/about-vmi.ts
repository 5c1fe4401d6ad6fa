import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { apiVersionOf, type KubeObject, type Resource } from "@virtkit/kube";

/** A VMI as the object of an event; objects from lists do not say what they are. */
export function aboutVmi(vmi: VirtualMachineInstance, resource: Resource): KubeObject {
  const { kind } = resource;
  return {
    apiVersion: apiVersionOf(resource),
    kind,
    metadata: (vmi.metadata ?? {}) as KubeObject["metadata"],
  };
}
