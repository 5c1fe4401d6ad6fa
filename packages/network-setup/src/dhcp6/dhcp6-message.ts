import { NetworkSetupError } from "../network-setup-error.ts";

/** An option of a DHCPv6 message: its code and its bytes. */
export type Dhcp6Option = readonly [code: number, value: Uint8Array];

/** A DHCPv6 message between client and server (RFC 8415). */
export interface Dhcp6Message {
  readonly type: number;
  readonly transaction: Uint8Array;
  readonly options: readonly Dhcp6Option[];
}

/** Types of the messages that a client sends and a server answers. */
export const messageTypes6 = {
  solicit: 1,
  advertise: 2,
  request: 3,
  confirm: 4,
  renew: 5,
  rebind: 6,
  reply: 7,
  release: 8,
  informationRequest: 11,
  relayForward: 12,
  relayReply: 13,
} as const;

/** Codes of the options that are read or written here. */
export const optionCodes6 = {
  clientId: 1,
  serverId: 2,
  ianaAddress: 3,
  address: 5,
  rapidCommit: 14,
  nameServers: 23,
} as const;

const headerBytes = 4;
const optionHeaderBytes = 4;

/**
 * Reads a message. Throws a {@link NetworkSetupError} if it is too short, has a truncated option,
 * or comes from a relay, which guests do not use.
 */
export function decodeDhcp6(bytes: Uint8Array): Dhcp6Message {
  const type = bytes[0];
  if (type === undefined || bytes.length < headerBytes) throw invalid("it is too short");
  if (type === messageTypes6.relayForward || type === messageTypes6.relayReply) {
    throw invalid("it comes from a relay");
  }
  return {
    type,
    transaction: bytes.subarray(1, headerBytes),
    options: decodeOptions(bytes.subarray(headerBytes)),
  };
}

/** The message as bytes, with its options in the order given. */
export function encodeDhcp6({ type, transaction, options }: Dhcp6Message): Uint8Array {
  return Buffer.concat([Buffer.from([type]), transaction, ...options.map(encodeOption)]);
}

/** An option as bytes, for messages and for options inside options. */
export function encodeOption([code, value]: Dhcp6Option): Buffer {
  const header = Buffer.alloc(optionHeaderBytes);
  header.writeUInt16BE(code, 0);
  header.writeUInt16BE(value.length, 2);
  return Buffer.concat([header, value]);
}

/** The first option with a code. */
export function findOption(message: Dhcp6Message, code: number): Uint8Array | undefined {
  return message.options.find(([candidate]) => candidate === code)?.[1];
}

function decodeOptions(bytes: Uint8Array): Dhcp6Option[] {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const options: Dhcp6Option[] = [];
  for (let at = 0; at < view.length; ) {
    if (at + optionHeaderBytes > view.length) throw invalid("an option is truncated");
    const size = view.readUInt16BE(at + 2);
    const end = at + optionHeaderBytes + size;
    if (end > view.length) throw invalid("an option is longer than the message");
    options.push([view.readUInt16BE(at), view.subarray(at + optionHeaderBytes, end)]);
    at = end;
  }
  return options;
}

/** The error for a message that gets no answer. */
export function invalid(why: string): NetworkSetupError {
  const message = `the DHCPv6 message is dropped: ${why}`;
  return new NetworkSetupError("NETWORK_DHCP_MESSAGE_INVALID", message);
}
