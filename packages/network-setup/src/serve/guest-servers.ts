import { domainWithSubdomain, type ResolvConf } from "../dhcp/resolv-conf.ts";
import type { Dhcp4Config } from "../dhcp4/dhcp4-options.ts";
import { decodeDhcp4 } from "../dhcp4/dhcp4-packet.ts";
import { dhcp4Responder } from "../dhcp4/dhcp4-reply.ts";
import { dhcp6Responder } from "../dhcp6/dhcp6-reply.ts";
import { isNetworkSetupError } from "../network-setup-error.ts";
import type { GuestServers } from "../plan/guest-part.ts";
import { ipOf } from "../plan/pod-nic.ts";
import { type Outcome, serveDatagrams } from "./datagram-server.ts";
import type { GuestSockets } from "./guest-sockets.ts";
import { type RouterServerOptions, serveRouter } from "./router-server.ts";
import type { GuestServer, ServerCounters } from "./server-counters.ts";

/** What the launcher knows but the plan does not. */
export interface GuestIdentity extends RouterServerOptions {
  /** The guest's MAC; no other client gets an answer. */
  readonly mac: string;
  /** The Pod's host name. */
  readonly hostname: string;
  /** The Pod's name servers. */
  readonly resolvConf: ResolvConf;
}

/** The running servers of one guest interface. */
export interface RunningServers extends AsyncDisposable {
  readonly counters: Readonly<Partial<Record<"dhcp4" | "dhcp6" | "router", ServerCounters>>>;
}

/**
 * Starts DHCPv4, DHCPv6 and router advertisements for one guest interface on opened sockets. Needs
 * no privileges. Takes over the sockets. Throws a `NetworkSetupError` on a configuration that
 * cannot be served, and then closes all sockets.
 */
export async function startGuestServers(
  sockets: GuestSockets,
  servers: GuestServers,
  identity: GuestIdentity,
): Promise<RunningServers> {
  const running: Partial<Record<"dhcp4" | "dhcp6" | "router", GuestServer>> = {};
  const { config } = servers;
  const nameservers = identity.resolvConf.ipv6;
  const clientIp = ipOf(config.ipv6);
  try {
    if (sockets.dhcp4) {
      const answer = dhcp4Answer(dhcp4Config(servers, identity));
      running.dhcp4 = await serveDatagrams(sockets.dhcp4, "udp4", answer, identity);
    }
    if (sockets.dhcp6) {
      const answer = dhcp6Answer({ clientIp, serverMac: sockets.serverMac, nameservers });
      running.dhcp6 = await serveDatagrams(sockets.dhcp6, "udp6", answer, identity);
    }
    if (sockets.router) {
      const router = { network: config.ipv6, mac: sockets.serverMac, mtu: config.mtu, nameservers };
      running.router = serveRouter(sockets.router, router, identity);
    }
  } catch (error) {
    await Promise.all(Object.values(running).map((server) => server[Symbol.asyncDispose]()));
    for (const socket of [sockets.dhcp4, sockets.dhcp6, sockets.router]) socket?.close();
    throw error;
  }
  const counters = Object.entries(running).map(([name, server]) => [name, server.counters]);
  return {
    counters: Object.fromEntries(counters),
    async [Symbol.asyncDispose]() {
      await Promise.all(Object.values(running).map((server) => server[Symbol.asyncDispose]()));
    },
  };
}

function dhcp4Config({ config, options }: GuestServers, identity: GuestIdentity): Dhcp4Config {
  const { ipv4, searchDomains } = identity.resolvConf;
  const own = domainWithSubdomain(searchDomains, config.subdomain);
  return {
    clientMac: config.mac || identity.mac,
    clientIp: config.ip,
    serverIp: config.serverIp,
    ...(config.gateway ? { routerIp: config.gateway } : {}),
    nameservers: ipv4,
    searchDomains: own === "" ? searchDomains : [own, ...searchDomains],
    mtu: config.mtu,
    hostname: identity.hostname,
    ...(config.routes.length > 0 ? { routes: config.routes } : {}),
    ...(options ? { dhcpOptions: options } : {}),
  };
}

function dhcp4Answer(config: Dhcp4Config): Parameters<typeof serveDatagrams>[2] {
  const respond = dhcp4Responder(config);
  return (datagram, from): Outcome =>
    respond(datagram, from) ?? (decodeDhcp4(datagram) ? "ignored" : "malformed");
}

function dhcp6Answer(
  config: Parameters<typeof dhcp6Responder>[0],
): Parameters<typeof serveDatagrams>[2] {
  const respond = dhcp6Responder(config);
  return (datagram, from): Outcome => {
    try {
      return { payload: respond(datagram), to: from };
    } catch (error) {
      if (isNetworkSetupError(error)) return "malformed";
      throw error;
    }
  };
}
