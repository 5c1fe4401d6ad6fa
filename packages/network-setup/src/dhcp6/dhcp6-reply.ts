import { leaseSeconds } from "../dhcp/lease.ts";
import { parseIp } from "../ip-address.ts";
import { parseMac } from "../mac-address.ts";
import { NetworkSetupError } from "../network-setup-error.ts";
import {
  type Dhcp6Message,
  type Dhcp6Option,
  decodeDhcp6,
  encodeDhcp6,
  encodeOption,
  findOption,
  invalid,
  messageTypes6,
  optionCodes6,
} from "./dhcp6-message.ts";

/** What a guest learns about its IPv6 network. */
export interface Dhcp6Config {
  readonly clientIp: string;
  /** MAC of the link that the server listens on: its identity (DUID-LL). */
  readonly serverMac: string;
  readonly nameservers: readonly string[];
}

/** Answers a message; throws a {@link NetworkSetupError} on one that gets no answer. */
export type Dhcp6Responder = (message: Uint8Array) => Uint8Array;

/** IAID, T1 and T2 of an identity association. */
const ianaHeaderBytes = 12;

/** Message types that get a REPLY, besides a SOLICIT that asks for rapid commit. */
const repliedTypes: ReadonlySet<number> = new Set([
  messageTypes6.request,
  messageTypes6.confirm,
  messageTypes6.renew,
  messageTypes6.rebind,
  messageTypes6.release,
  messageTypes6.informationRequest,
]);

/**
 * The DHCPv6 server of one guest as a pure function: it gives its one address to every client, with
 * or without rapid commit. It serves a namespace of its own, so nobody else can ask. Throws a
 * {@link NetworkSetupError} on an invalid configuration when it is created.
 */
export function dhcp6Responder(config: Dhcp6Config): Dhcp6Responder {
  const address = ipv6(config.clientIp, "clientIP");
  const serverId = Buffer.from([0, 3, 0, 1, ...parseMac(config.serverMac, "serverMAC")]);
  const nameServers = config.nameservers.map((server) => ipv6(server, "nameservers"));
  return (bytes) => {
    const message = decodeDhcp6(bytes);
    const clientId = findOption(message, optionCodes6.clientId);
    const { type, rapid } = replyType(message);
    if (!clientId) throw invalid("it has no client identifier");
    const options: Dhcp6Option[] = [
      [optionCodes6.clientId, clientId],
      ...(rapid ? [[optionCodes6.rapidCommit, new Uint8Array()] as const] : []),
      [optionCodes6.ianaAddress, identityAssociation(message, address)],
      [optionCodes6.serverId, serverId],
      ...(nameServers.length > 0
        ? [[optionCodes6.nameServers, Buffer.concat(nameServers)] as const]
        : []),
    ];
    return encodeDhcp6({ type, transaction: message.transaction, options });
  };
}

function replyType(message: Dhcp6Message): { type: number; rapid: boolean } {
  if (message.type === messageTypes6.solicit) {
    const rapid = findOption(message, optionCodes6.rapidCommit) !== undefined;
    return { type: rapid ? messageTypes6.reply : messageTypes6.advertise, rapid };
  }
  if (!repliedTypes.has(message.type))
    throw invalid(`type ${message.type} is not a client's request`);
  return { type: messageTypes6.reply, rapid: false };
}

/** The address under the identity that the client asked for; zero if it named none. */
function identityAssociation(message: Dhcp6Message, address: Uint8Array): Uint8Array {
  const asked = findOption(message, optionCodes6.ianaAddress);
  if (asked && asked.length < ianaHeaderBytes)
    throw invalid("its identity association is truncated");
  const header = Buffer.alloc(ianaHeaderBytes);
  if (asked) header.set(asked.subarray(0, 4));
  const lifetimes = Buffer.alloc(8);
  lifetimes.writeUInt32BE(leaseSeconds, 0);
  lifetimes.writeUInt32BE(leaseSeconds, 4);
  const lease = encodeOption([optionCodes6.address, Buffer.concat([address, lifetimes])]);
  return Buffer.concat([header, lease]);
}

function ipv6(text: string, path: string): Uint8Array {
  const address = parseIp(text);
  if (address?.length === 16) return address;
  const message = `${path} holds ${JSON.stringify(text)}; it must be an IPv6 address`;
  throw new NetworkSetupError("NETWORK_DHCP_CONFIG_INVALID", message, { path });
}
