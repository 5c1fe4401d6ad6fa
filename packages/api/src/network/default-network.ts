import type { ClusterConfig } from "../config/index.ts";
import type { Interface, Network, VirtualMachineInstanceSpec } from "../schema/index.ts";
import { at } from "../shape.ts";
import { interfacesOf, networksOf } from "./interfaces.ts";

/** The parts of the cluster configuration that decide about the default network of a VM. */
export type DefaultNetworkConfig = Pick<
  ClusterConfig,
  "defaultNetworkInterface" | "permitBridgeInterfaceOnPodNetwork"
>;

/** The lists to add, nothing if the spec needs none, or why there is no default. */
export type DefaultNetwork =
  | { readonly kind: "add"; readonly interfaces: Interface[]; readonly networks: Network[] }
  | { readonly kind: "none" }
  | { readonly kind: "refused"; readonly binding: "bridge" | "slirp"; readonly message: string };

/**
 * The interface and the network for a spec that has none and does not set `autoattachPodInterface: false`. An
 * unknown default binding adds only the network, as in KubeVirt.
 */
export function defaultNetwork(
  spec: VirtualMachineInstanceSpec | undefined,
  config: DefaultNetworkConfig,
): DefaultNetwork {
  if (at(spec, "domain", "devices", "autoattachPodInterface") === false) return { kind: "none" };
  if (interfacesOf(spec).length > 0 || networksOf(spec).length > 0) return { kind: "none" };
  const networks: Network[] = [{ name: "default", pod: {} }];
  switch (config.defaultNetworkInterface) {
    case "bridge":
      return config.permitBridgeInterfaceOnPodNetwork
        ? { kind: "add", interfaces: [{ name: "default", bridge: {} }], networks }
        : refused("bridge", "the cluster configuration does not permit it on the Pod network");
    case "masquerade":
      return { kind: "add", interfaces: [{ name: "default", masquerade: {} }], networks };
    case "slirp":
      return refused("slirp", "KubeVirt v1.3 removed it");
    default:
      return { kind: "add", interfaces: [], networks };
  }
}

function refused(binding: "bridge" | "slirp", why: string): DefaultNetwork {
  const message = `the default binding "${binding}" cannot be used: ${why}; name an interface and a network, or set network.defaultNetworkInterface to masquerade`;
  return { kind: "refused", binding, message };
}
