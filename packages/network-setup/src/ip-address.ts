import { isIPv4, isIPv6 } from "node:net";
import { NetworkSetupError } from "./network-setup-error.ts";

/** An address as the network writes it: 4 bytes for IPv4, 16 for IPv6. */
export type IpAddress = Uint8Array;

/** An address and the length of its network's prefix. */
export interface Cidr {
  readonly address: IpAddress;
  readonly prefix: number;
}

/**
 * Reads an address; undefined where the text is none. An IPv4 address inside IPv6
 * (`::ffff:10.0.0.1`) counts as IPv4. A zone (`fe80::1%eth0`) is not part of an address.
 */
export function parseIp(text: string): IpAddress | undefined {
  if (isIPv4(text)) return Uint8Array.from(text.split("."), Number);
  if (!isIPv6(text) || text.includes("%")) return undefined;
  const bytes = parseIpv6(text);
  return isMappedIpv4(bytes) ? bytes.subarray(12) : bytes;
}

/** Reads `address/prefix`; throws a {@link NetworkSetupError} that names `path` where it is none. */
export function parseCidr(text: string, path: string): Cidr {
  const [, ip = "", length = ""] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const address = parseIp(ip);
  const prefix = Number(length);
  if (!address || length === "" || prefix > address.length * 8) {
    const message = `${path} is ${JSON.stringify(text)}; it must be an address and a prefix, as 10.0.2.0/24`;
    throw new NetworkSetupError("NETWORK_ADDRESS_INVALID", message, { path });
  }
  return { address, prefix };
}

/** The address as people write it; IPv6 in the short form of RFC 5952. */
export function formatIp(address: IpAddress): string {
  if (address.length === 4) return address.join(".");
  const groups = Array.from({ length: 8 }, (_, index) =>
    (((address[index * 2] ?? 0) << 8) | (address[index * 2 + 1] ?? 0)).toString(16),
  );
  const { start, length } = longestZeroRun(groups);
  if (length < 2) return groups.join(":");
  return `${groups.slice(0, start).join(":")}::${groups.slice(start + length).join(":")}`;
}

/** `address/prefix`. */
export function formatCidr({ address, prefix }: Cidr): string {
  return `${formatIp(address)}/${prefix}`;
}

/** The network mask of a prefix for an address of `size` bytes. */
export function maskOf(prefix: number, size: number): Uint8Array {
  return Uint8Array.from({ length: size }, (_, index) => {
    const bits = Math.min(8, Math.max(0, prefix - index * 8));
    return 0xff & (0xff << (8 - bits));
  });
}

/** The first address of the network plus `offset`, which must be small: only the last byte counts. */
export function addressInNetwork({ address, prefix }: Cidr, offset: number): IpAddress {
  const mask = maskOf(prefix, address.length);
  const result = address.map((byte, index) => byte & (mask[index] ?? 0));
  result[result.length - 1] = (result[result.length - 1] ?? 0) + offset;
  return result;
}

function parseIpv6(text: string): Uint8Array {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(text);
  const plain = dotted
    ? `${dotted[1]}${hexPair(dotted[2], dotted[3])}:${hexPair(dotted[4], dotted[5])}`
    : text;
  const [head = "", tail] = plain.split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => "0");
  const groups = [...before, ...zeros, ...after].map((group) => Number.parseInt(group, 16));
  return Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 0xff]));
}

function hexPair(high = "0", low = "0"): string {
  return ((Number(high) << 8) | Number(low)).toString(16);
}

function isMappedIpv4(bytes: Uint8Array): boolean {
  return (
    bytes.subarray(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff
  );
}

function longestZeroRun(groups: readonly string[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  for (let start = 0; start < groups.length; start++) {
    let length = 0;
    while (groups[start + length] === "0") length++;
    if (length > best.length) best = { start, length };
  }
  return best;
}
