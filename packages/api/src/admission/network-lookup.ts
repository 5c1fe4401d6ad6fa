import type { Network, VirtualMachineInstanceSpec } from "../schema/index.ts";

/** Whether the network replaces the Pod's own: the Pod network itself, or Multus' default. */
export function isDefaultNetwork(network: Network): boolean {
  return Boolean(network.pod || network.multus?.default);
}

/** Networks by name; of two with the same name the last one counts. */
export function networksByName(spec: VirtualMachineInstanceSpec): ReadonlyMap<string, Network> {
  return new Map(spec.networks?.map((network) => [network.name, network]));
}
