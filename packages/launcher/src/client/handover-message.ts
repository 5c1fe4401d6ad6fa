import type { OwnedFd } from "@virtkit/host-primitives";
import type { GuestServers } from "@virtkit/network-setup/plan";
import type { GuestIdentity, GuestSockets } from "@virtkit/network-setup/serve";
import { type Check, fields, list, record, text, word } from "../channel/check.ts";
import { LauncherError } from "../launcher-error.ts";

/** Sockets of one guest interface with everything that is needed to serve them. */
export interface Handover {
  /** Name of the VMI's network. */
  readonly network: string;
  readonly sockets: GuestSockets;
  /** As the network plan has it. */
  readonly servers: GuestServers;
  readonly identity: Omit<GuestIdentity, "schedule">;
}

/** Most bytes of the message. */
export const handoverBytes: number = 65_536;

const kinds = ["dhcp4", "dhcp6", "router"] as const;

const checkMessage = fields({
  network: text(253),
  sockets: list(word(kinds), kinds.length),
  serverMac: text(64),
  servers: record as unknown as Check<GuestServers>,
  identity: fields({
    mac: text(64),
    hostname: text(253),
    resolvConf: fields({
      ipv4: list(text(64), 1_000),
      ipv6: list(text(64), 1_000),
      searchDomains: list(text(1_024), 1_000),
    }),
  }),
});

/** A handover as the message and the descriptors that go with it. */
export function writeHandover({ network, sockets, servers, identity }: Handover): {
  readonly data: Buffer;
  readonly descriptors: readonly OwnedFd[];
} {
  const given = kinds.filter((kind) => sockets[kind]);
  const { mac, hostname, resolvConf } = identity;
  const message = {
    network,
    sockets: given,
    serverMac: sockets.serverMac,
    servers,
    identity: { mac, hostname, resolvConf },
  };
  const data = Buffer.from(JSON.stringify(message));
  if (data.length > handoverBytes) {
    const text = `the network ${network} takes ${data.length} bytes to describe; at most ${handoverBytes} are accepted`;
    throw new LauncherError("LAUNCHER_ARGUMENT", text, { path: network });
  }
  return { data, descriptors: given.flatMap((kind) => sockets[kind] ?? []) };
}

/** Reads a handover. Throws a `LauncherError`; the caller then keeps the descriptors. */
export function readHandover(data: Buffer, descriptors: readonly OwnedFd[]): Handover {
  const { network, sockets, serverMac, servers, identity } = checkMessage(parsed(data), "handover");
  const once = new Set(sockets);
  if (sockets.length !== descriptors.length || once.size !== sockets.length) {
    const text = `handover.sockets names ${sockets.join(", ") || "nothing"}, but ${descriptors.length} descriptors arrived`;
    throw new LauncherError("LAUNCHER_ARGUMENT", text, { path: "handover.sockets" });
  }
  const byKind = Object.fromEntries(sockets.map((kind, index) => [kind, descriptors[index]]));
  return { network, sockets: { ...byKind, serverMac } as GuestSockets, servers, identity };
}

function parsed(data: Buffer): unknown {
  try {
    return JSON.parse(data.toString("utf8"));
  } catch {
    throw new LauncherError("LAUNCHER_ARGUMENT", "the handover is not JSON", { path: "handover" });
  }
}
