import { formatMac } from "@virtkit/api/addresses";
import { parseMac } from "../mac-address.ts";
import {
  type Attribute,
  decodeAttributes,
  encodeAttributes,
  malformed,
  nested,
  readText,
  readU32,
  text,
  u32,
} from "./netlink-message.ts";
import { type RtNetlink, requestFlags } from "./rt-netlink.ts";

/** A link as the kernel describes it. */
export interface KernelLink {
  readonly name: string;
  readonly index: number;
  readonly type: string;
  readonly mac: string;
  readonly mtu: number;
  /** The administrative state: whether the link was set up. */
  readonly up: boolean;
  /** Operational. */
  readonly state: string;
  readonly master: number | undefined;
  /** Whether a bridge learns addresses from it; undefined if it is not a port. */
  readonly learning: boolean | undefined;
}

/** Properties of a link to change. */
export interface LinkChange {
  readonly name?: string;
  readonly mac?: string;
  readonly mtu?: number;
  /** 0: none. */
  readonly master?: number;
  readonly up?: boolean;
}

const types = { new: 16, delete: 17, get: 18, set: 19 } as const;
const headerBytes = 16;
const upFlag = 1;
const bridgeFamily = 7;
const attributes = {
  address: 1,
  name: 3,
  mtu: 4,
  master: 10,
  protocolInfo: 12,
  state: 16,
  info: 18,
} as const;
const info = { kind: 1, data: 2, portKind: 4, portData: 5 } as const;
const tunType = 3;
const tapMode = 2;
const portLearning = 8;
const states = ["unknown", "not-present", "down", "lower-layer-down", "testing", "dormant", "up"];

/** All links, in the order of their indexes. */
export function listLinks(kernel: RtNetlink): KernelLink[] {
  const links = kernel.dump("list links", types.get, header({})).map(decodeLink);
  return links.sort((a, b) => a.index - b.index);
}

/** The link with this index, else with this name; undefined if there is none. */
export function findLink(
  kernel: RtNetlink,
  { name, index }: { readonly name: string; readonly index?: number },
): KernelLink | undefined {
  const by = index === undefined ? encodeAttributes([[attributes.name, text(name)]]) : undefined;
  const body = Buffer.concat([header({ index: index ?? 0 }), by ?? Buffer.alloc(0)]);
  const found = kernel.get(`look up ${name}`, types.get, body);
  return found && decodeLink(found);
}

/** Creates a link of a kind that needs no parameters. `EEXIST` if the name is taken. */
export function addLink(kernel: RtNetlink, name: string, kind: string): void {
  const body = encodeAttributes([
    [attributes.name, text(name)],
    nested(attributes.info, [[info.kind, Buffer.from(kind)]]),
  ]);
  const flags = requestFlags.create | requestFlags.exclusive;
  kernel.change(`add ${kind} ${name}`, types.new, flags, Buffer.concat([header({}), body]));
}

export function deleteLink(kernel: RtNetlink, index: number, name: string): void {
  kernel.change(`delete ${name}`, types.delete, 0, header({ index }));
}

/** Changes a link in one request. */
export function setLink(kernel: RtNetlink, index: number, name: string, change: LinkChange): void {
  const list: Attribute[] = [];
  if (change.name !== undefined) list.push([attributes.name, text(change.name)]);
  if (change.mac !== undefined)
    list.push([attributes.address, Buffer.from(parseMac(change.mac, name))]);
  if (change.mtu !== undefined) list.push([attributes.mtu, u32(change.mtu)]);
  if (change.master !== undefined) list.push([attributes.master, u32(change.master)]);
  const flags = change.up === undefined ? {} : { flags: change.up ? upFlag : 0, change: upFlag };
  const body = Buffer.concat([header({ index, ...flags }), encodeAttributes(list)]);
  kernel.change(`change ${name} (${Object.keys(change).join(", ")})`, types.new, 0, body);
}

/** Whether a bridge should learn addresses from this port. */
export function setLearning(kernel: RtNetlink, index: number, name: string, on: boolean): void {
  const setting = nested(attributes.protocolInfo, [[portLearning, Buffer.from([on ? 1 : 0])]]);
  const body = [header({ index, family: bridgeFamily }), encodeAttributes([setting])];
  kernel.change(`change learning of ${name}`, types.set, 0, Buffer.concat(body));
}

function header(fields: {
  readonly family?: number;
  readonly index?: number;
  readonly flags?: number;
  readonly change?: number;
}): Buffer {
  const bytes = Buffer.alloc(headerBytes);
  bytes.writeUInt8(fields.family ?? 0, 0);
  bytes.writeInt32LE(fields.index ?? 0, 4);
  bytes.writeUInt32LE(fields.flags ?? 0, 8);
  bytes.writeUInt32LE(fields.change ?? 0, 12);
  return bytes;
}

/** Reads one link. Throws a `NetworkSetupError` if the message is truncated. */
export function decodeLink(body: Buffer): KernelLink {
  if (body.length < headerBytes) throw malformed("a link is truncated");
  const found = decodeAttributes(body.subarray(headerBytes));
  const details = decodeAttributes(found.get(attributes.info) ?? Buffer.alloc(0));
  return {
    name: readText(found.get(attributes.name)),
    index: body.readInt32LE(4),
    type: kindOf(details),
    mac: macOf(found.get(attributes.address)),
    mtu: readU32(found.get(attributes.mtu)) ?? 0,
    up: (body.readUInt32LE(8) & upFlag) !== 0,
    state: states[found.get(attributes.state)?.[0] ?? 0] ?? "unknown",
    master: readU32(found.get(attributes.master)) || undefined,
    learning: learningOf(details),
  };
}

/** The loopback's address is all zeros: it has none. */
function macOf(bytes: Buffer | undefined): string {
  return bytes?.length === 6 && bytes.some((byte) => byte !== 0) ? formatMac(bytes) : "";
}

function kindOf(details: ReadonlyMap<number, Buffer>): string {
  const kind = readText(details.get(info.kind));
  if (kind !== "tun") return kind || "device";
  const mode = decodeAttributes(details.get(info.data) ?? Buffer.alloc(0)).get(tunType);
  return mode?.[0] === tapMode ? "tap" : "tun";
}

function learningOf(details: ReadonlyMap<number, Buffer>): boolean | undefined {
  if (readText(details.get(info.portKind)) !== "bridge") return undefined;
  const port = decodeAttributes(details.get(info.portData) ?? Buffer.alloc(0));
  return port.get(portLearning)?.[0] === 1;
}
