import type { Cidr } from "../ip-address.ts";
import { addressInNetwork, parseCidr, parseIp } from "../ip-address.ts";
import { parseMac } from "../mac-address.ts";
import { NetworkSetupError } from "../network-setup-error.ts";

/** What a guest's router says about itself and the link. */
export interface RouterConfig {
  /** The network between guest and Pod, such as `fd10:0:2::1/120`. */
  readonly network: string;
  /** MAC of the link that it speaks on. */
  readonly mac: string;
  readonly mtu: number;
  readonly nameservers: readonly string[];
}

/** Types of ICMPv6 messages (RFC 4861). */
export const icmp6Types = { routerSolicitation: 133, routerAdvertisement: 134 } as const;

const optionTypes = { sourceMac: 1, prefix: 3, mtu: 5, nameServers: 25 } as const;
const headerBytes = 16;
const solicitationBytes = 8;
/** For packets that guests send. */
const hopLimit = 64;
/** Address and the rest come from DHCPv6: "managed" and "other". */
const fromDhcp = 0xc0;
/** The longest lifetime that a router may announce, in seconds; renewed long before it expires. */
const lifetimeSeconds = 9_000;
/** The prefix is on the link, but not for address configuration: a /120 cannot be used for that. */
const onLink = 0x80;
/** The minimum for IPv6; a smaller MTU must not be advertised (RFC 4861, 6.3.4). */
const minMtu = 1_280;

/**
 * The advertisement that gives a guest its IPv6 route: the router, the prefix on the link, the MTU
 * and the name servers. The kernel fills in the checksum. Throws a {@link NetworkSetupError} on an
 * invalid address.
 */
export function encodeRouterAdvertisement(config: RouterConfig): Buffer {
  const { network, mac, mtu, nameservers } = config;
  const header = Buffer.alloc(headerBytes);
  header.set([icmp6Types.routerAdvertisement, 0, 0, 0, hopLimit, fromDhcp]);
  header.writeUInt16BE(lifetimeSeconds, 6);
  return Buffer.concat([
    header,
    option(optionTypes.sourceMac, Buffer.from(parseMac(mac, "mac"))),
    ...(mtu >= minMtu ? [option(optionTypes.mtu, Buffer.concat([Buffer.alloc(2), u32(mtu)]))] : []),
    option(optionTypes.prefix, prefixOption(parseCidr(network, "network"))),
    ...(nameservers.length > 0
      ? [option(optionTypes.nameServers, serversOption(nameservers))]
      : []),
  ]);
}

/**
 * Whether bytes are a router solicitation: of the right type, complete, and with complete options.
 */
export function isRouterSolicitation(bytes: Uint8Array): boolean {
  if (bytes.length < solicitationBytes || bytes[0] !== icmp6Types.routerSolicitation) return false;
  if (bytes[1] !== 0) return false;
  let at = solicitationBytes;
  while (at < bytes.length) {
    const length = (bytes[at + 1] ?? 0) * 8;
    if (length === 0) return false;
    at += length;
  }
  return at === bytes.length;
}

function prefixOption(network: Cidr): Buffer {
  return Buffer.concat([
    Buffer.from([network.prefix, onLink]),
    u32(lifetimeSeconds),
    u32(lifetimeSeconds),
    Buffer.alloc(4),
    ipv6(addressInNetwork(network, 0), "network"),
  ]);
}

function serversOption(nameservers: readonly string[]): Buffer {
  const addresses = nameservers.map((server) => ipv6(parseIp(server), "nameservers"));
  return Buffer.concat([Buffer.alloc(2), u32(lifetimeSeconds), ...addresses]);
}

/** Type, length in units of eight bytes, value; padded with zeros. */
function option(type: number, value: Buffer): Buffer {
  const units = Math.ceil((2 + value.length) / 8);
  const bytes = Buffer.alloc(units * 8);
  bytes.set([type, units]);
  value.copy(bytes, 2);
  return bytes;
}

function ipv6(address: Uint8Array | undefined, path: string): Buffer {
  if (address?.length === 16) return Buffer.from(address);
  const message = `${path} must contain IPv6 addresses: routers are only advertised to IPv6 guests`;
  throw new NetworkSetupError("NETWORK_DHCP_CONFIG_INVALID", message, { path });
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value, 0);
  return bytes;
}
