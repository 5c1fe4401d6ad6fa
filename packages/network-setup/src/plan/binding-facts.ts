import { NetworkSetupError } from "../network-setup-error.ts";
import type { Binding } from "./binding.ts";
import { type BridgeLease, bridgeLease } from "./guest-dhcp.ts";
import { globalAddress, ipOf, type PodNic } from "./pod-nic.ts";

/** What must be known about the Pod's interface before it is changed. */
export interface BindingFacts {
  /** The addresses at which the guest is reached; the primary family first. */
  readonly podIps: readonly string[];
  /** What a bridged guest inherits. */
  readonly lease?: BridgeLease;
}

/**
 * The addresses of a binding. Throws a {@link NetworkSetupError} if the Pod's interface is missing,
 * or if it has both families and the cluster's first family is not given. Plugins need no
 * interface. Bridged guests get no IPv6 address of the Pod, because nobody hands it to them.
 */
export function podIps(
  binding: Binding,
  primaryFamily: "ipv4" | "ipv6" | undefined,
): readonly string[] {
  const { kind, nic } = binding;
  if (kind === "sriov") return [];
  if (kind === "unknown") throw bindingUnknown(binding);
  if (!nic) {
    if (kind === "plugin" || kind === "managedTap") return [];
    throw podLinkMissing(binding);
  }
  const ipv4 = addressOf(nic, "ipv4");
  const ipv6 = kind === "bridge" ? undefined : addressOf(nic, "ipv6");
  if (ipv4 === undefined || ipv6 === undefined) return [ipv4 ?? ipv6 ?? []].flat();
  if (primaryFamily === undefined) {
    const message = `${nic.name} has IPv4 and IPv6; set primaryFamily to the cluster's first family`;
    throw new NetworkSetupError("NETWORK_FAMILY_UNKNOWN", message, { path: "primaryFamily" });
  }
  return primaryFamily === "ipv4" ? [ipv4, ipv6] : [ipv6, ipv4];
}

/** Everything in {@link BindingFacts}; throws like {@link podIps} and `bridgeLease`. */
export function bindingFacts(
  binding: Binding,
  primaryFamily: "ipv4" | "ipv6" | undefined,
): BindingFacts {
  const ips = podIps(binding, primaryFamily);
  const { kind, nic, iface, status } = binding;
  if (kind !== "bridge" || !nic) return { podIps: ips };
  return { podIps: ips, lease: bridgeLease(nic, iface, status) };
}

/** The error for a missing Pod interface that a binding needs. */
export function podLinkMissing({ podInterface, network }: Binding): NetworkSetupError {
  const message = `the Pod has no link ${podInterface} for network ${network.name}; wait for the CNI, or check the Pod's network-status annotation`;
  return new NetworkSetupError("NETWORK_POD_LINK_MISSING", message, { path: network.name });
}

/** The error for an interface without a binding, or with one that this release does not know. */
export function bindingUnknown({ iface }: Binding): NetworkSetupError {
  const message = `interface ${iface.name} has no known binding; use bridge, masquerade, sriov, passtBinding or binding`;
  return new NetworkSetupError("NETWORK_BINDING_INVALID", message, { path: iface.name });
}

function addressOf(nic: PodNic, family: "ipv4" | "ipv6"): string | undefined {
  const cidr = globalAddress(nic, family);
  return cidr === undefined ? undefined : ipOf(cidr);
}
