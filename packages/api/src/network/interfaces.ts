import type {
  Interface,
  Network,
  VirtualMachineInstanceNetworkInterface,
  VirtualMachineInstanceSpec,
} from "../schema/index.ts";
import { at, isSet, objects, text } from "../shape.ts";

/** What a VMI's status says about one interface. */
export type InterfaceStatus = VirtualMachineInstanceNetworkInterface;

/** The part of a spec that the network functions read; a VM's template and a VMI both have one. */
export type NetworkSpec = Pick<VirtualMachineInstanceSpec, "domain" | "networks">;

/** The interfaces of a spec; entries that are not objects are skipped. */
export function interfacesOf(spec: NetworkSpec | undefined): readonly Interface[] {
  return objects<Interface>(at(spec, "domain", "devices", "interfaces"));
}

/** The networks of a spec; entries that are not objects are skipped. */
export function networksOf(spec: NetworkSpec | undefined): readonly Network[] {
  return objects<Network>(at(spec, "networks"));
}

/** The interfaces in the status of a VMI. */
export function interfaceStatusesOf(vmi: unknown): readonly InterfaceStatus[] {
  return objects<InterfaceStatus>(at(vmi, "status", "interfaces"));
}

/** Items by name; of two with the same name the later wins. */
export function byName<T extends { readonly name?: string }>(
  items: readonly T[],
): ReadonlyMap<string, T> {
  return new Map(items.map((item) => [text(item.name), item]));
}

/** Whether a network comes from Multus and is not the Pod's first one. */
export function isSecondary(network: Network): boolean {
  return isSet(network.multus) && at(network.multus, "default") !== true;
}

/** Whether a network's device comes from a resource claim. */
export function isFromResourceClaim(network: Network | undefined): boolean {
  return isSet(at(network, "resourceClaim"));
}

/** The network behind the Pod's first interface: the Pod network, or the Multus default. */
export function primaryNetwork(networks: readonly Network[]): Network | undefined {
  return networks.find(
    (network) => isSet(network.pod) || (isSet(network.multus) && !isSecondary(network)),
  );
}

/** Whether an interface should be removed from the guest. */
export function isAbsent(iface: Interface): boolean {
  return iface.state === "absent";
}

/** The networks that the given interfaces use, in the order of the interfaces. */
export function networksUsedBy(
  interfaces: readonly Interface[],
  networks: readonly Network[],
): readonly Network[] {
  const known = byName(networks);
  const used: Network[] = [];
  for (const iface of interfaces) {
    const network = known.get(text(iface.name));
    if (network) used.push(network);
  }
  return used;
}
