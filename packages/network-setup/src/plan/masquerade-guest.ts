import { formatIp } from "@virtkit/api/addresses";
import type { PodNetwork } from "@virtkit/api/schema";
import { masqueradeAddresses } from "../masquerade-addresses.ts";

/** The IPv4 address at which the sandbox reaches a guest behind masquerade. */
export function masqueradeGuest(network: PodNetwork): string {
  return formatIp(masqueradeAddresses(network, "ipv4").guest.address);
}
