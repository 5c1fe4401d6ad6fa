import { isIPv4, isIPv6 } from "node:net";
import { integer } from "../ffi/foreign.ts";
import { HostError } from "../host-error.ts";
import { socketFamilies } from "./socket-calls.ts";

/** Where a datagram goes to or comes from. */
export interface InternetAddress {
  /** Numeric, without a zone. */
  readonly address: string;
  /** Default 0, as for raw sockets. */
  readonly port?: number;
  /** Index of the interface that a link-local IPv6 address is on. */
  readonly scope?: number;
}

/** `sockaddr_in` or `sockaddr_in6` of a numeric address. */
export function encodeAddress({ address, port = 0, scope = 0 }: InternetAddress): Buffer {
  integer(port, 0, 65_535, "port");
  integer(scope, 0, 0xffff_ffff, "scope");
  const four = isIPv4(address);
  if (!four && !(isIPv6(address) && !address.includes("%"))) {
    const message = `address is ${JSON.stringify(address)}; use a numeric IPv4 or IPv6 address`;
    throw new HostError("HOST_ARGUMENT_INVALID", message, { path: "address" });
  }
  const bytes = Buffer.alloc(four ? 16 : 28);
  bytes.writeUInt16LE(four ? socketFamilies.inet : socketFamilies.inet6, 0);
  bytes.writeUInt16BE(port, 2);
  if (four) {
    Buffer.from(address.split(".").map(Number)).copy(bytes, 4);
  } else {
    ipv6Bytes(address).copy(bytes, 8);
    bytes.writeUInt32LE(scope, 24);
  }
  return bytes;
}

/**
 * The inverse of {@link encodeAddress}; undefined for addresses of other families, such as netlink.
 */
export function decodeAddress(bytes: Buffer): InternetAddress | undefined {
  const family = bytes.length >= 2 ? bytes.readUInt16LE(0) : 0;
  if (family === socketFamilies.inet && bytes.length >= 8) {
    return { address: [...bytes.subarray(4, 8)].join("."), port: bytes.readUInt16BE(2) };
  }
  if (family !== socketFamilies.inet6 || bytes.length < 28) return undefined;
  const groups = Array.from({ length: 8 }, (_, n) => bytes.readUInt16BE(8 + 2 * n).toString(16));
  const scope = bytes.readUInt32LE(24);
  const port = bytes.readUInt16BE(2);
  return { address: shorten(groups), port, ...(scope !== 0 && { scope }) };
}

/** Writes the longest run of zeros, of at least two groups, as `::`. */
function shorten(groups: readonly string[]): string {
  let [start, length] = [0, 1];
  for (let first = 0; first < groups.length; first++) {
    let end = first;
    while (groups[end] === "0") end++;
    if (end - first > length) [start, length] = [first, end - first];
  }
  if (length < 2) return groups.join(":");
  return `${groups.slice(0, start).join(":")}::${groups.slice(start + length).join(":")}`;
}

function ipv6Bytes(address: string): Buffer {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const text = dotted
    ? `${dotted[1]}${hexPair(dotted[2], dotted[3])}:${hexPair(dotted[4], dotted[5])}`
    : address;
  const [head = "", tail] = text.split("::");
  const groups = (part: string): string[] => (part === "" ? [] : part.split(":"));
  const before = groups(head);
  const after = tail === undefined ? [] : groups(tail);
  const all = [...before, ...Array<string>(8 - before.length - after.length).fill("0"), ...after];
  const bytes = Buffer.alloc(16);
  for (const [index, group] of all.entries()) {
    bytes.writeUInt16BE(Number.parseInt(group, 16), 2 * index);
  }
  return bytes;
}

function hexPair(high = "0", low = "0"): string {
  return (Number(high) * 256 + Number(low)).toString(16);
}
