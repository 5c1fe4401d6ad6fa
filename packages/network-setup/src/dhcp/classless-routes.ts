import { addressInNetwork, type Cidr, type IpAddress, parseCidr, parseIp } from "../ip-address.ts";
import { NetworkSetupError } from "../network-setup-error.ts";

/** A route as the Pod had it. */
export interface Route {
  /** `address/prefix`; absent for the default route. */
  readonly dst?: string;
  /** Absent if the destination is on the link. */
  readonly gw?: string;
}

/**
 * Routes in the form of DHCP option 121 (RFC 3442). Default routes come last: a client applies them
 * in order, and the route to their gateway must exist first. A gateway that is not an IPv4 address
 * counts as "on the link". Throws a {@link NetworkSetupError} on an IPv6 destination.
 */
export function encodeClasslessRoutes(routes: readonly Route[]): Uint8Array {
  const ordered = [
    ...routes.filter(({ dst }) => dst !== undefined),
    ...routes.filter(({ dst }) => dst === undefined),
  ];
  return Buffer.concat(ordered.map(encodeRoute));
}

function encodeRoute({ dst, gw }: Route): Buffer {
  const network = destination(dst);
  const { prefix } = network;
  const significant = addressInNetwork(network, 0).subarray(0, Math.ceil(prefix / 8));
  return Buffer.concat([Buffer.from([prefix]), significant, gateway(gw)]);
}

function destination(dst: string | undefined): Cidr {
  const cidr = parseCidr(dst ?? "0.0.0.0/0", "routes.dst");
  if (cidr.address.length === 4) return cidr;
  const message = `routes.dst is ${dst}; DHCPv4 carries only IPv4 routes: leave IPv6 to router advertisements`;
  throw new NetworkSetupError("NETWORK_DHCP_CONFIG_INVALID", message, { path: "routes.dst" });
}

function gateway(gw: string | undefined): IpAddress {
  const address = parseIp(gw ?? "");
  return address?.length === 4 ? address : new Uint8Array(4);
}
