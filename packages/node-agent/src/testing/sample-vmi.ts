import type { VirtualMachineInstance, Volume } from "@virtkit/api/schema";

/** A VMI with these volumes and one interface behind masquerade. */
export function sampleVmi(
  volumes: readonly Volume[] = [],
  change: (vmi: VirtualMachineInstance) => void = () => {},
): VirtualMachineInstance {
  const vmi: VirtualMachineInstance = {
    apiVersion: "kubevirt.io/v1",
    kind: "VirtualMachineInstance",
    metadata: { name: "vm", namespace: "default", uid: "5d0c6f1e-0001-4000-8000-000000000001" },
    spec: {
      domain: {
        memory: { guest: "128Mi" },
        devices: {
          disks: volumes.map(({ name }) => ({ name, disk: { bus: "virtio" } })),
          interfaces: [{ name: "default", model: "virtio", masquerade: {} }],
        },
      },
      networks: [{ name: "default", pod: {} }],
      volumes: [...volumes],
    },
    status: { runtimeUser: 107 },
  } as VirtualMachineInstance;
  change(vmi);
  return vmi;
}
