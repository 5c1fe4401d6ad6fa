import { formatIp } from "@virtkit/api/addresses";
import type { PodNetwork } from "@virtkit/api/schema";
import { formatCidr } from "../ip-address.ts";
import { masqueradeAddresses } from "../masquerade-addresses.ts";

/** Configuration of the servers of a guest behind masquerade; "" for a family that is not used. */
export interface MasqueradeDhcpConfig {
  readonly name: string;
  readonly mtu: number;
  readonly subdomain: string;
  readonly ip: string;
  readonly gateway: string;
  readonly advertisingIp: string;
  readonly ipv6: string;
  readonly advertisingIpv6: string;
}

/**
 * The configuration of the DHCP servers behind masquerade. A family is served if the Pod's link has
 * a global unicast address of it.
 */
export function masqueradeDhcpConfig(
  link: { readonly name: string; readonly mtu: number },
  network: PodNetwork,
  families: { readonly ipv4: boolean; readonly ipv6: boolean },
  subdomain = "",
): MasqueradeDhcpConfig {
  const v4 = families.ipv4 ? masqueradeAddresses(network, "ipv4") : undefined;
  const v6 = families.ipv6 ? masqueradeAddresses(network, "ipv6") : undefined;
  const gateway = v4 ? formatIp(v4.gateway.address) : "";
  return {
    name: link.name,
    mtu: link.mtu & 0xffff,
    subdomain,
    ip: v4 ? formatCidr(v4.guest) : "",
    gateway,
    advertisingIp: gateway,
    ipv6: v6 ? formatCidr(v6.guest) : "",
    advertisingIpv6: v6 ? formatIp(v6.gateway.address) : "",
  };
}
