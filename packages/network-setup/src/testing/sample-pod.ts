import type { Interface, Network, VirtualMachineInstance } from "@virtkit/api/schema";
import type { PodNic } from "../plan/pod-nic.ts";

/** A VMI with these interfaces, each on a network of the same name. */
export function sampleVmi(
  interfaces: readonly Interface[],
  networks: readonly Network[] = interfaces.map(({ name }, index) =>
    index === 0 ? { name, pod: {} } : { name, multus: { networkName: name } },
  ),
): VirtualMachineInstance {
  return {
    apiVersion: "kubevirt.io/v1",
    kind: "VirtualMachineInstance",
    metadata: { name: "vm", namespace: "default", uid: "b7b0" },
    spec: { domain: { devices: { interfaces: [...interfaces] } }, networks: [...networks] },
    status: { runtimeUser: 107, migrationTransport: "Unix" },
  } as VirtualMachineInstance;
}

/** A Pod's first interface as a CNI leaves it. */
export function podNic(fields: Partial<PodNic> = {}): PodNic {
  return {
    name: "eth0",
    index: 2,
    type: "veth",
    mac: "0a:58:0a:f4:01:05",
    mtu: 1450,
    state: "up",
    addresses: [{ cidr: "10.244.1.5/24" }, { cidr: "fe80::1/64" }],
    routes: [
      { family: "ipv4", gw: "10.244.1.1" },
      { family: "ipv4", dst: "10.244.1.0/24", scope: 253, protocol: 2 },
    ],
    ...fields,
  };
}
