import type { PodNetwork } from "@virtkit/api/schema";
import { addressInNetwork, type Cidr, formatCidr, parseCidr } from "./ip-address.ts";
import { NetworkSetupError } from "./network-setup-error.ts";

/** The two ends of the link between guest and Pod, for one IP family. */
export interface MasqueradeAddresses {
  /** The Pod's end: the guest's gateway and DHCP server. */
  readonly gateway: Cidr;
  readonly guest: Cidr;
}

/** The default networks between guest and Pod. */
const defaultCidrs = { ipv4: "10.0.2.0/24", ipv6: "fd10:0:2::0/120" };
const fields = { ipv4: "vmNetworkCIDR", ipv6: "vmIPv6NetworkCIDR" } as const;

/**
 * The addresses of guest and gateway in the network that the VMI names, or in the default one: its
 * second and third address. Throws a {@link NetworkSetupError} on a network with fewer than four.
 */
export function masqueradeAddresses(
  network: PodNetwork,
  family: "ipv4" | "ipv6",
): MasqueradeAddresses {
  const path = `pod.${fields[family]}`;
  const cidr = parseCidr(network[fields[family]] || defaultCidrs[family], path);
  if (cidr.address.length * 8 - cidr.prefix < 2) {
    const message = `${path} is ${formatCidr(cidr)}; it must have room for at least 4 addresses`;
    throw new NetworkSetupError("NETWORK_CIDR_TOO_SMALL", message, { path });
  }
  return {
    gateway: { address: addressInNetwork(cidr, 1), prefix: cidr.prefix },
    guest: { address: addressInNetwork(cidr, 2), prefix: cidr.prefix },
  };
}
