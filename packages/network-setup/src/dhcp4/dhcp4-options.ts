import type { DHCPOptions } from "@virtkit/api/schema";
import { encodeClasslessRoutes, type Route } from "../dhcp/classless-routes.ts";
import { encodeSearchDomains, longestDomain } from "../dhcp/search-domains.ts";
import { maskOf, parseCidr, parseIp } from "../ip-address.ts";
import { NetworkSetupError } from "../network-setup-error.ts";

/** What a guest learns about its network. */
export interface Dhcp4Config {
  /** The only client that gets an answer; absent: any. */
  readonly clientMac?: string;
  /** The guest's `address/prefix`. */
  readonly clientIp?: string;
  readonly serverIp: string;
  readonly routerIp?: string;
  readonly nameservers: readonly string[];
  readonly searchDomains: readonly string[];
  readonly mtu: number;
  readonly hostname: string;
  readonly routes?: readonly Route[];
  /** The interface's own `dhcpOptions`. */
  readonly dhcpOptions?: DHCPOptions;
}

/** Numbers of the options that the server sends (RFC 2132, 3397, 3442). */
export const optionCodes = {
  subnetMask: 1,
  router: 3,
  domainNameServer: 6,
  hostName: 12,
  domainName: 15,
  interfaceMtu: 26,
  ntpServers: 42,
  leaseTime: 51,
  messageType: 53,
  serverIdentifier: 54,
  tftpServerName: 66,
  bootFileName: 67,
  domainSearch: 119,
  classlessRoutes: 121,
} as const;

/** The options that RFC 3942 leaves to a site, and here to the VMI. */
const privateOptions = { first: 224, last: 254 };

/**
 * The options of every answer, by code, in ascending order. A value may be longer than one option
 * can hold; the packet splits it. Throws a {@link NetworkSetupError} that names the field on an
 * invalid search domain, NTP server or route. Private options outside 224 to 254 are left out.
 */
export function dhcp4Options(config: Dhcp4Config): Map<number, Uint8Array> {
  const { clientIp, routerIp, routes = [], searchDomains, dhcpOptions = {} } = config;
  const options: [number, Uint8Array | undefined][] = [
    [optionCodes.subnetMask, clientIp === undefined ? undefined : subnetMask(clientIp)],
    [optionCodes.router, routerIp === undefined ? undefined : ipv4(routerIp)],
    [optionCodes.domainNameServer, Buffer.concat(config.nameservers.map(nameServer))],
    [optionCodes.hostName, Buffer.from(config.hostname)],
    [optionCodes.domainName, textOption(longestDomain(searchDomains))],
    [optionCodes.interfaceMtu, Uint8Array.of((config.mtu >> 8) & 0xff, config.mtu & 0xff)],
    [optionCodes.ntpServers, ntpServers(dhcpOptions.ntpServers ?? [])],
    [optionCodes.tftpServerName, textOption(dhcpOptions.tftpServerName)],
    [optionCodes.bootFileName, textOption(dhcpOptions.bootFileName)],
    [optionCodes.domainSearch, encodeSearchDomains(searchDomains)],
    [optionCodes.classlessRoutes, routes.length > 0 ? encodeClasslessRoutes(routes) : undefined],
    ...(dhcpOptions.privateOptions ?? [])
      .filter(({ option }) => option >= privateOptions.first && option <= privateOptions.last)
      .map(({ option, value }): [number, Uint8Array] => [option, Buffer.from(value)]),
  ];
  const given = options.filter((entry): entry is [number, Uint8Array] => entry[1] !== undefined);
  return new Map([...new Map(given)].sort(([a], [b]) => a - b));
}

function subnetMask(clientIp: string): Uint8Array {
  const { address, prefix } = parseCidr(clientIp, "clientIP");
  return maskOf(prefix, address.length);
}

/** DHCPv4 cannot carry an IPv6 address: the option stays empty, as in KubeVirt. */
function ipv4(text: string): Uint8Array {
  const address = parseIp(text);
  return address?.length === 4 ? address : new Uint8Array();
}

function nameServer(text: string): Uint8Array {
  return parseIp(text) ?? fail("nameservers", text, "an IP address");
}

function textOption(text: string | undefined): Uint8Array | undefined {
  return text === undefined || text === "" ? undefined : Buffer.from(text);
}

function ntpServers(servers: readonly string[]): Uint8Array | undefined {
  if (servers.length === 0) return undefined;
  return Buffer.concat(
    servers.map((server) => {
      const address = parseIp(server);
      return address?.length === 4
        ? address
        : fail("dhcpOptions.ntpServers", server, "an IPv4 address");
    }),
  );
}

function fail(path: string, found: string, wanted: string): never {
  const message = `${path} holds ${JSON.stringify(found)}; it must be ${wanted}`;
  throw new NetworkSetupError("NETWORK_DHCP_CONFIG_INVALID", message, { path });
}
