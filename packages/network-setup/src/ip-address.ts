import { isIP } from "node:net";
import { formatIp, isIpv4, parseIp as octetsOf } from "@virtkit/api/addresses";
import { NetworkSetupError } from "./network-setup-error.ts";

/** An address in network format: 4 bytes for IPv4, 16 for IPv6. */
export type IpAddress = Uint8Array;

/** An address and the length of its network's prefix. */
export interface Cidr {
  readonly address: IpAddress;
  readonly prefix: number;
}

/**
 * Reads an address; undefined if the text is not one. An IPv4 address inside IPv6
 * (`::ffff:10.0.0.1`) counts as IPv4. A zone (`fe80::1%eth0`) is not part of an address.
 */
export function parseIp(text: string): IpAddress | undefined {
  // Stricter than the API: others read `010.0.0.1` as octal.
  const octets = isIP(text) === 0 ? undefined : octetsOf(text);
  return octets && Uint8Array.from(isIpv4(octets) ? octets.slice(-4) : octets);
}

/**
 * Reads `address/prefix`; throws a {@link NetworkSetupError} that names `path` if it is invalid.
 */
export function parseCidr(text: string, path: string): Cidr {
  const [, ip = "", length = ""] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const address = parseIp(ip);
  const prefix = Number(length);
  if (!address || length === "" || prefix > address.length * 8) {
    const message = `${path} is ${JSON.stringify(text)}; it must be an address and a prefix, such as 10.0.2.0/24`;
    throw new NetworkSetupError("NETWORK_ADDRESS_INVALID", message, { path });
  }
  return { address, prefix };
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

/**
 * The first address of the network plus `offset`, which must be small: only the last byte is
 * changed.
 */
export function addressInNetwork({ address, prefix }: Cidr, offset: number): IpAddress {
  const mask = maskOf(prefix, address.length);
  const result = address.map((byte, index) => byte & (mask[index] ?? 0));
  result[result.length - 1] = (result[result.length - 1] ?? 0) + offset;
  return result;
}
