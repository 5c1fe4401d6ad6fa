import { leaseSeconds } from "../dhcp/lease.ts";
import { parseCidr, parseIp } from "../ip-address.ts";
import { parseMac } from "../mac-address.ts";
import { type Dhcp4Config, dhcp4Options, optionCodes } from "./dhcp4-options.ts";
import { type Dhcp4Packet, decodeDhcp4, encodeDhcp4Reply, messageTypes } from "./dhcp4-packet.ts";

/** Source or destination of a datagram. */
export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

/** A datagram to send. */
export interface Dhcp4Reply {
  readonly payload: Uint8Array;
  readonly to: Endpoint;
}

/** Answers a datagram; undefined if it gets no answer. */
export type Dhcp4Responder = (datagram: Uint8Array, from: Endpoint) => Dhcp4Reply | undefined;

const { messageType, serverIdentifier, leaseTime } = optionCodes;
const noAddress = new Uint8Array(4);
const lease = Uint8Array.of(
  leaseSeconds >>> 24,
  (leaseSeconds >>> 16) & 0xff,
  (leaseSeconds >>> 8) & 0xff,
  leaseSeconds & 0xff,
);

/**
 * The DHCPv4 server of one guest as a pure function. It offers on DISCOVER, acknowledges REQUEST
 * and sends the options on INFORM, always with the guest's one address. Nothing else gets an
 * answer, nor does another MAC. Throws a {@link NetworkSetupError} on an invalid configuration when
 * it is created, never when it answers.
 */
export function dhcp4Responder(config: Dhcp4Config): Dhcp4Responder {
  const options = [...dhcp4Options(config)];
  const address = config.clientIp && parseCidr(config.clientIp, "clientIP").address;
  const mac = config.clientMac === undefined ? undefined : parseMac(config.clientMac, "clientMAC");
  const server = parseIp(config.serverIp);
  const identity = server?.length === 4 ? server : new Uint8Array();
  const answer = (request: Dhcp4Packet, type: number, yourIp: Uint8Array): Uint8Array =>
    encodeDhcp4Reply(request, yourIp, [
      [messageType, Uint8Array.of(type)],
      [serverIdentifier, identity],
      ...(type === messageTypes.ack && yourIp === noAddress ? [] : [[leaseTime, lease] as const]),
      ...options,
    ]);
  return (datagram, from) => {
    const request = decodeDhcp4(datagram);
    if (!request || (mac && !equal(request.clientMac, mac))) return undefined;
    const payload = payloadFor(request, address || noAddress, answer);
    return payload && { payload, to: destination(request, from) };
  };
}

function payloadFor(
  request: Dhcp4Packet,
  address: Uint8Array,
  answer: (request: Dhcp4Packet, type: number, yourIp: Uint8Array) => Uint8Array,
): Uint8Array | undefined {
  const type = request.options.get(messageType);
  if (type?.length !== 1) return undefined;
  switch (type[0]) {
    case messageTypes.discover:
      return answer(request, messageTypes.offer, address);
    case messageTypes.request:
      return answer(request, messageTypes.ack, address);
    case messageTypes.inform:
      // The client already has its address and asks for the rest: no lease (RFC 2131, 4.3.5).
      return answer(request, messageTypes.ack, noAddress);
    default:
      return undefined;
  }
}

/**
 * A client without an address, or one that asks for broadcast, can only be reached by broadcast.
 */
function destination(request: Dhcp4Packet, from: Endpoint): Endpoint {
  const broadcast = (request.flags[0] ?? 0) >= 0x80;
  if (!broadcast && from.address !== "0.0.0.0") return from;
  return { address: "255.255.255.255", port: from.port };
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
