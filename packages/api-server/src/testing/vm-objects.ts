import type { InProcessApiServer } from "@virtkit/testing/api-server";

/** Seeds a running VM with its VMI on node01, with the changes that a test needs. */
export function seedRunningVm(
  cluster: InProcessApiServer,
  { vm = {}, status = {} }: { readonly vm?: object; readonly status?: object } = {},
): void {
  const domain = { devices: {}, memory: { guest: "1Gi" } };
  cluster.seedByKind({
    apiVersion: "kubevirt.io/v1",
    kind: "VirtualMachine",
    metadata: { name: "vm", namespace: "default", uid: "vm-uid" },
    spec: { runStrategy: "Always", template: { spec: { domain } }, ...vm },
    status: { created: true, ready: true },
  } as never);
  cluster.seedByKind({
    apiVersion: "kubevirt.io/v1",
    kind: "VirtualMachineInstance",
    metadata: {
      name: "vm",
      namespace: "default",
      uid: "vmi-uid",
      ownerReferences: [
        {
          apiVersion: "kubevirt.io/v1",
          kind: "VirtualMachine",
          name: "vm",
          uid: "vm-uid",
          controller: true,
        },
      ],
    },
    spec: { domain },
    status: {
      phase: "Running",
      nodeName: "node01",
      interfaces: [{ name: "default", ipAddress: "127.0.0.1" }],
      conditions: [{ type: "AgentConnected", status: "True" }],
      ...status,
    },
  } as never);
}
