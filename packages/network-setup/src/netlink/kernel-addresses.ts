import { formatIp } from "@virtkit/api/addresses";
import { parseCidr, parseIp } from "../ip-address.ts";
import type { PodAddress } from "../plan/pod-nic.ts";
import {
  type Attribute,
  decodeAttributes,
  encodeAttributes,
  malformed,
  readU32,
  u32,
} from "./netlink-message.ts";
import { type RtNetlink, requestFlags } from "./rt-netlink.ts";

/** An address and its link. */
export interface KernelAddress extends PodAddress {
  readonly index: number;
}

const types = { new: 20, delete: 21, get: 22 } as const;
const headerBytes = 8;
const attributes = { address: 1, local: 2, broadcast: 4, flags: 8 } as const;
const noPrefixRoute = 0x200;
/** Without this, a new IPv6 address cannot be used for a second or two. */
const noDuplicateCheck = 0x2;
/** `AF_INET` and `AF_INET6`. */
export const families = { ipv4: 2, ipv6: 10 } as const;

/** All addresses, in the kernel's order, IPv4 first. */
export function listAddresses(kernel: RtNetlink): KernelAddress[] {
  return [families.ipv4, families.ipv6].flatMap((family) =>
    kernel.dump("list addresses", types.get, header(family, 0, 0, 0)).map(decodeAddress),
  );
}

/** `EEXIST` if the link already has it. */
export function addAddress(kernel: RtNetlink, index: number, address: PodAddress): void {
  const flags = requestFlags.create | requestFlags.exclusive;
  kernel.change(`add ${address.cidr}`, types.new, flags, encodeAddress(index, address));
}

/** `EADDRNOTAVAIL` if the link does not have it. */
export function deleteAddress(kernel: RtNetlink, index: number, address: PodAddress): void {
  kernel.change(`delete ${address.cidr}`, types.delete, 0, encodeAddress(index, address));
}

function encodeAddress(index: number, { cidr, broadcast, scope, ...rest }: PodAddress): Buffer {
  const { address, prefix } = parseCidr(cidr, "address");
  const bytes = Buffer.from(address);
  const six = bytes.length === 16;
  const flags = (rest.noPrefixRoute ? noPrefixRoute : 0) | (six ? noDuplicateCheck : 0);
  const list: Attribute[] = [
    [attributes.local, bytes],
    [attributes.address, bytes],
    [attributes.flags, u32(flags)],
  ];
  const all = broadcast === undefined ? undefined : parseIp(broadcast);
  if (all) list.push([attributes.broadcast, Buffer.from(all)]);
  const family = six ? families.ipv6 : families.ipv4;
  return Buffer.concat([header(family, prefix, scope ?? 0, index), encodeAttributes(list)]);
}

function header(family: number, prefix: number, scope: number, index: number): Buffer {
  const bytes = Buffer.alloc(headerBytes);
  bytes.set([family, prefix, 0, scope]);
  bytes.writeUInt32LE(index, 4);
  return bytes;
}

/** Reads one address. Throws a `NetworkSetupError` if the message is truncated. */
export function decodeAddress(body: Buffer): KernelAddress {
  if (body.length < headerBytes) throw malformed("an address is truncated");
  const found = decodeAttributes(body.subarray(headerBytes));
  const ip = found.get(attributes.local) ?? found.get(attributes.address);
  if (ip?.length !== 4 && ip?.length !== 16) throw malformed("an address has no bytes");
  const broadcast = found.get(attributes.broadcast);
  const flags = readU32(found.get(attributes.flags)) ?? 0;
  const scope = body.readUInt8(3);
  return {
    cidr: `${formatIp(ip)}/${body.readUInt8(1)}`,
    index: body.readUInt32LE(4),
    ...(broadcast?.length === 4 ? { broadcast: formatIp(broadcast) } : {}),
    ...(scope === 0 ? {} : { scope }),
    ...((flags & noPrefixRoute) === 0 ? {} : { noPrefixRoute: true }),
  };
}
