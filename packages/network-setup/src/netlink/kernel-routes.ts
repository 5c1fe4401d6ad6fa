import { formatIp, formatMac } from "@virtkit/api/addresses";
import { parseCidr, parseIp } from "../ip-address.ts";
import { parseMac } from "../mac-address.ts";
import type { PodNeighbour, PodRoute } from "../plan/pod-nic.ts";
import { families } from "./kernel-addresses.ts";
import {
  type Attribute,
  decodeAttributes,
  encodeAttributes,
  malformed,
  readU32,
  u32,
} from "./netlink-message.ts";
import { type RtNetlink, requestFlags } from "./rt-netlink.ts";

/** A route and its outgoing link. */
export interface KernelRoute extends PodRoute {
  readonly index: number;
}

/** A neighbour and its link. */
export interface KernelNeighbour extends PodNeighbour {
  readonly index: number;
}

const routeTypes = { new: 24, get: 26 } as const;
const neighbourTypes = { new: 28, get: 30 } as const;
const headerBytes = 12;
const attributes = { dst: 1, out: 4, gateway: 5, metric: 6, source: 7 } as const;
const neighbour = { address: 1, mac: 2 } as const;
const mainTable = 254;
const unicast = 1;
const onLinkFlag = 4;
/** Copies of routes that the kernel creates, one per destination. */
const clonedFlag = 0x200;
const permanent = 0x80;
const bootProtocol = 3;

/** The unicast routes of the main table, in the kernel's order, IPv4 first. */
export function listRoutes(kernel: RtNetlink): KernelRoute[] {
  return [families.ipv4, families.ipv6].flatMap((family) => {
    const request = Buffer.alloc(headerBytes);
    request.writeUInt8(family, 0);
    return kernel.dump("list routes", routeTypes.get, request).flatMap((body) => decodeRoute(body));
  });
}

/** Adds a route, or replaces the one to the same destination with the same metric. */
export function addRoute(kernel: RtNetlink, index: number, route: PodRoute): void {
  const flags = requestFlags.create | requestFlags.replace;
  const what = `add the route to ${route.dst ?? "anywhere"}`;
  kernel.change(what, routeTypes.new, flags, encodeRoute(index, route));
}

function encodeRoute(index: number, route: PodRoute): Buffer {
  const six = route.family === "ipv6";
  const dst = route.dst === undefined ? undefined : parseCidr(route.dst, "routes.dst");
  const header = Buffer.alloc(headerBytes);
  const protocol = route.protocol ?? bootProtocol;
  const family = six ? families.ipv6 : families.ipv4;
  header.set([family, dst?.prefix ?? 0, 0, 0, mainTable, protocol, route.scope ?? 0, unicast]);
  header.writeUInt32LE(route.onLink ? onLinkFlag : 0, 8);
  const list: Attribute[] = [[attributes.out, u32(index)]];
  if (dst) list.push([attributes.dst, Buffer.from(dst.address)]);
  for (const [type, address] of [
    [attributes.gateway, route.gw],
    [attributes.source, route.source],
  ] as const) {
    const bytes = address === undefined ? undefined : parseIp(address);
    if (bytes) list.push([type, Buffer.from(bytes)]);
  }
  if (route.metric !== undefined) list.push([attributes.metric, u32(route.metric)]);
  return Buffer.concat([header, encodeAttributes(list)]);
}

/** Reads one route; none if it belongs to another table or kind. Throws if it is truncated. */
export function decodeRoute(body: Buffer): readonly KernelRoute[] {
  if (body.length < headerBytes) throw malformed("a route is truncated");
  const flags = body.readUInt32LE(8);
  const found = decodeAttributes(body.subarray(headerBytes));
  const index = readU32(found.get(attributes.out));
  const wanted = body[4] === mainTable && body[7] === unicast && (flags & clonedFlag) === 0;
  if (!wanted || index === undefined) return [];
  const dst = addressOf(found.get(attributes.dst));
  const gw = addressOf(found.get(attributes.gateway));
  const source = addressOf(found.get(attributes.source));
  const metric = readU32(found.get(attributes.metric));
  const [scope = 0, protocol = 0] = [body[6], body[5]];
  return [
    {
      index,
      family: body[0] === families.ipv6 ? "ipv6" : "ipv4",
      protocol,
      ...(dst === undefined ? {} : { dst: `${dst}/${body[1]}` }),
      ...(gw === undefined ? {} : { gw }),
      ...(source === undefined ? {} : { source }),
      ...(metric === undefined ? {} : { metric }),
      ...(scope === 0 ? {} : { scope }),
      ...((flags & onLinkFlag) === 0 ? {} : { onLink: true }),
    },
  ];
}

/** The neighbours that were set by hand; learned ones come and go. */
export function listNeighbours(kernel: RtNetlink): KernelNeighbour[] {
  const bodies = kernel.dump("list neighbours", neighbourTypes.get, Buffer.alloc(headerBytes));
  return bodies.flatMap(decodeNeighbour);
}

export function addNeighbour(kernel: RtNetlink, index: number, entry: PodNeighbour): void {
  const address = parseIp(entry.address);
  if (!address) return;
  const header = Buffer.alloc(headerBytes);
  header.writeUInt8(address.length === 16 ? families.ipv6 : families.ipv4, 0);
  header.writeInt32LE(index, 4);
  header.writeUInt16LE(permanent, 8);
  const body = encodeAttributes([
    [neighbour.address, Buffer.from(address)],
    [neighbour.mac, Buffer.from(parseMac(entry.mac, "neighbours.mac"))],
  ]);
  const flags = requestFlags.create | requestFlags.replace;
  kernel.change(
    `add the neighbour ${entry.address}`,
    neighbourTypes.new,
    flags,
    Buffer.concat([header, body]),
  );
}

/** Reads one neighbour; none if it was learned. Throws if it is truncated. */
export function decodeNeighbour(body: Buffer): readonly KernelNeighbour[] {
  if (body.length < headerBytes) throw malformed("a neighbour is truncated");
  const found = decodeAttributes(body.subarray(headerBytes));
  const address = addressOf(found.get(neighbour.address));
  const mac = found.get(neighbour.mac);
  if ((body.readUInt16LE(8) & permanent) === 0 || address === undefined || mac?.length !== 6)
    return [];
  return [{ index: body.readInt32LE(4), address, mac: formatMac(mac) }];
}

function addressOf(bytes: Buffer | undefined): string | undefined {
  return bytes?.length === 4 || bytes?.length === 16 ? formatIp(bytes) : undefined;
}
