import { parseIp } from "../ip-address.ts";

/** An address of a link, with everything that is needed to restore it. */
export interface PodAddress {
  /** `address/prefix`. */
  readonly cidr: string;
  readonly broadcast?: string;
  /** The kernel's number of the scope; absent: global. */
  readonly scope?: number;
  /** `IFA_F_NOPREFIXROUTE`: the kernel adds no route for it. */
  readonly noPrefixRoute?: boolean;
}

/** A route of the main table. */
export interface PodRoute {
  readonly family: "ipv4" | "ipv6";
  /** `address/prefix`; absent for the default route. */
  readonly dst?: string;
  /** Absent if the destination is on the link. */
  readonly gw?: string;
  readonly source?: string;
  readonly metric?: number;
  /** The kernel's number of the scope; absent: global. */
  readonly scope?: number;
  /** Who created it, by the kernel's number: 2 is the kernel itself. */
  readonly protocol?: number;
  readonly onLink?: boolean;
}

/** A permanent entry of the neighbour table. */
export interface PodNeighbour {
  readonly address: string;
  readonly mac: string;
}

/** One network interface of a Pod as found: plain data that can be printed, stored and compared. */
export interface PodNic {
  readonly name: string;
  readonly index: number;
  /** The kernel's kind: `veth`, `bridge`, `tap`, ...; `device` if it has none. */
  readonly type: string;
  /** `""` if it has none. */
  readonly mac: string;
  readonly mtu: number;
  /** Operational state: `up`, `down`, `unknown`, `lower-layer-down`, ... */
  readonly state: string;
  /** Index of its bridge, if it is a port of one. */
  readonly master?: number;
  readonly addresses: readonly PodAddress[];
  readonly routes: readonly PodRoute[];
  readonly neighbours?: readonly PodNeighbour[];
}

/** The addresses of one family, `address/prefix`, in the kernel's order. */
export function addressesOf(nic: PodNic | undefined, family: "ipv4" | "ipv6"): readonly string[] {
  const size = family === "ipv4" ? 4 : 16;
  const all = nic?.addresses.map(({ cidr }) => cidr) ?? [];
  return all.filter((cidr) => parseIp(ipOf(cidr))?.length === size);
}

/** The first address at which others can reach the Pod; undefined if it has none of the family. */
export function globalAddress(
  nic: PodNic | undefined,
  family: "ipv4" | "ipv6",
): string | undefined {
  return addressesOf(nic, family).find((cidr) => isGlobalUnicast(ipOf(cidr)));
}

/** The address of an `address/prefix`. */
export function ipOf(cidr: string): string {
  return cidr.slice(0, cidr.lastIndexOf("/"));
}

/** Whether an address belongs to a single host beyond the link; private ones count. */
export function isGlobalUnicast(text: string): boolean {
  const ip = parseIp(text);
  if (!ip || ip.every((byte) => byte === 0)) return false;
  const [first = 0, second = 0] = ip;
  if (ip.length === 4) {
    const special = first === 127 || (first & 0xf0) === 224 || (first === 169 && second === 254);
    return !special && !ip.every((byte) => byte === 255);
  }
  const loopback = ip.subarray(0, 15).every((byte) => byte === 0) && ip[15] === 1;
  const linkLocal = first === 0xfe && (second & 0xc0) === 0x80;
  return !loopback && first !== 0xff && !linkLocal;
}
