import { clusterConfig } from "@virtkit/api/config";
import { defaultVirtualMachineInstance } from "@virtkit/api/defaults";
import { encodeGrant, freeGrant, grantAnnotation } from "@virtkit/api/grant";
import { names } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { KubeObject } from "@virtkit/kube";

/**
 * A VMI as the mutating webhook admits it: with its defaults, its finalizer, and a free run grant.
 */
export function admittedVmi(
  name: string,
  parts: Partial<VirtualMachineInstance> & { readonly namespace?: string } = {},
): KubeObject {
  const { namespace = "default", ...rest } = parts;
  const vmi: VirtualMachineInstance = {
    apiVersion: "kubevirt.io/v1",
    kind: "VirtualMachineInstance",
    metadata: { namespace, name },
    spec: { domain: { devices: { logSerialConsole: false }, memory: { guest: "64Mi" } } },
    ...rest,
  };
  const defaulted = defaultVirtualMachineInstance(vmi, clusterConfig({}), {});
  const annotations = {
    ...defaulted.metadata?.annotations,
    [names().own(grantAnnotation)]: encodeGrant(freeGrant),
  };
  const metadata = { ...defaulted.metadata, annotations };
  return JSON.parse(JSON.stringify({ ...defaulted, metadata })) as KubeObject;
}
