import { formatMac } from "@virtkit/api/addresses";
import type {
  Interface,
  PodNetwork,
  VirtualMachineInstanceNetworkInterface,
} from "@virtkit/api/schema";
import type { Route } from "../dhcp/classless-routes.ts";
import { masqueradeDhcpConfig } from "../dhcp/masquerade-dhcp-config.ts";
import { addressInNetwork, formatCidr, parseCidr, parseIp } from "../ip-address.ts";
import { parseMac } from "../mac-address.ts";
import { NetworkSetupError } from "../network-setup-error.ts";
import { globalAddress, ipOf, type PodNic } from "./pod-nic.ts";

/** Configuration of a guest's DHCP servers; `""` for a family or a field that is not used. */
export interface GuestDhcp {
  /** The Pod's interface that the guest's interface stands for. */
  readonly name: string;
  /** The only client that gets an answer; `""` means any, because there is only one. */
  readonly mac: string;
  readonly mtu: number;
  readonly ip: string;
  readonly ipv6: string;
  readonly gateway: string;
  /** The server's own addresses. */
  readonly serverIp: string;
  readonly serverIpv6: string;
  readonly routes: readonly Route[];
  readonly subdomain: string;
  /** The Pod has no IPv4 address to pass on: nothing is served. */
  readonly disabled: boolean;
}

/** The destination of the default route. */
const anywhere = "0.0.0.0/0";

/** The Pod's former interface, for the guest that takes its place. */
export type BridgeLease = Pick<GuestDhcp, "ip" | "mac" | "gateway" | "routes" | "disabled">;

/**
 * What the guest of a bridge binding inherits: address, routes and MAC of the Pod's interface. The
 * MAC comes from the spec, else from the status (the MAC at the source of a migration), else from
 * the interface itself. Throws a {@link NetworkSetupError} if the interface has an address but no
 * route, or if the MAC is invalid.
 */
export function bridgeLease(
  nic: PodNic,
  iface: Interface,
  status: VirtualMachineInstanceNetworkInterface | undefined,
): BridgeLease {
  const ip = globalAddress(nic, "ipv4");
  if (ip === undefined) return { ip: "", mac: "", gateway: "", routes: [], disabled: true };
  const mac = formatMac(parseMac(iface.macAddress || status?.mac || nic.mac, "macAddress"));
  const routes = nic.routes.filter(
    ({ family, gw }) => family === "ipv4" && (gw === undefined || parseIp(gw)?.length === 4),
  );
  const [first] = routes;
  if (!first) {
    const message = `${nic.name} has the address ${ip} but no IPv4 route, so the guest would have no gateway; give the network a route, or no address`;
    throw new NetworkSetupError("NETWORK_ROUTE_MISSING", message, { path: nic.name });
  }
  const local = networkOf(ip);
  const others = routes
    .map(({ dst, gw }) => ({ dst: dst === undefined ? anywhere : networkOf(dst), gw }))
    .filter(({ dst }) => dst === anywhere || dst !== local);
  return {
    ip,
    mac,
    gateway: first.gw ?? "",
    routes: others.map(({ dst, gw }) => ({
      ...(dst === anywhere ? {} : { dst }),
      ...(gw === undefined ? {} : { gw }),
    })),
    disabled: false,
  };
}

/** The configuration of a bridged guest's server, once the interface is a port of the bridge. */
export function bridgeDhcp(
  lease: BridgeLease,
  link: { readonly name: string; readonly mtu: number },
  serverCidr: string,
  subdomain: string,
): GuestDhcp {
  const none = { ipv6: "", serverIpv6: "" };
  if (lease.disabled) return { ...none, ...lease, name: "", mtu: 0, serverIp: "", subdomain: "" };
  const mtu = link.mtu & 0xffff;
  return { ...none, ...lease, name: link.name, mtu, serverIp: ipOf(serverCidr), subdomain };
}

/** The configuration of the servers of a guest behind masquerade. */
export function masqueradeDhcp(nic: PodNic, network: PodNetwork, subdomain: string): GuestDhcp {
  const families = {
    ipv4: globalAddress(nic, "ipv4") !== undefined,
    ipv6: globalAddress(nic, "ipv6") !== undefined,
  };
  const { advertisingIp, advertisingIpv6, ...config } = masqueradeDhcpConfig(
    nic,
    network,
    families,
    subdomain,
  );
  const addresses = { serverIp: advertisingIp, serverIpv6: advertisingIpv6 };
  return { ...config, ...addresses, mac: "", routes: [], disabled: false };
}

/** The address that serves DHCP on the bridge of the interface at this position. */
export function bridgeServerAddress(position: number): string {
  return `169.254.75.1${position}/32`;
}

function networkOf(cidr: string): string {
  const parsed = parseCidr(cidr, "routes.dst");
  return formatCidr({ address: addressInNetwork(parsed, 0), prefix: parsed.prefix });
}
