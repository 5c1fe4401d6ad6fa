import {
  addInfoSource,
  hasInfoSource,
  interfacesOf,
  mergeAddresses,
  mergeGuestInterfaces,
} from "@virtkit/api/network";
import type {
  Interface,
  VirtualMachineInstance,
  VirtualMachineInstanceNetworkInterface,
} from "@virtkit/api/schema";
import { parseIp } from "../ip-address.ts";

/** An interface of the running domain. */
export interface DomainInterface {
  /** The VMI's interface: the alias without its prefix. */
  readonly name: string;
  readonly mac: string;
  readonly queues?: number;
  /** Default `up`. */
  readonly linkState?: string;
}

/** An interface as the guest agent reports it; the guest can claim anything. */
export interface GuestInterface {
  readonly interfaceName?: string;
  readonly mac?: string;
  readonly ips?: readonly string[];
}

/** What is known about a VMI's interfaces, by source. */
export interface InterfaceReports {
  /** The domain's interfaces; undefined without a domain: then nothing new is known. */
  readonly domain?: readonly DomainInterface[];
  /** Interfaces with a passed-through device (SR-IOV), by name. */
  readonly hostDevices?: readonly string[];
  /** The Pod's addresses by network, as the plan found them. */
  readonly podIps?: Readonly<Record<string, readonly string[]>>;
  readonly guest?: readonly GuestInterface[];
}

type Status = VirtualMachineInstanceNetworkInterface;

/** What a guest reports is cut to this: a status is stored in etcd and read by everyone. */
const limits = { interfaces: 128, ips: 64, text: 64 } as const;

/**
 * `status.interfaces` of a VMI: what domain, Pod, guest agent and Multus know, merged. The primary
 * interface comes first. The Pod's address is kept if there is one and the guest has one of that
 * family. Behind masquerade, the guest's link-local addresses are left out, because nobody can
 * reach them. Whatever the guest reports, the result is bounded: at most ten interfaces of its own,
 * 64 addresses each, strings of 64 characters.
 */
export function mergeInterfaceStatuses(
  vmi: VirtualMachineInstance,
  reports: InterfaceReports,
): readonly Status[] {
  const before = vmi.status?.interfaces ?? [];
  if (!reports.domain) return before;
  const specs = new Map(interfacesOf(vmi.spec).map((iface) => [iface.name, iface]));
  const known = [
    ...reports.domain.map((iface) => fromDomain(iface)),
    ...(reports.hostDevices ?? []).map((name) => fromHostDevice(name, specs.get(name))),
  ].map((status) => withPodIps(status, reports.podIps ?? {}, specs));
  const merged = withGuest(known, boundedGuest(reports.guest ?? []), specs);
  const ordered = primaryFirst(merged, before, vmi);
  return withMultus(ordered, before, specs).map((status) => withPodName(status, before));
}

function fromDomain({ name, mac, queues = 1, linkState = "up" }: DomainInterface): Status {
  return { name, mac, infoSource: "domain", queueCount: queues, linkState };
}

function fromHostDevice(name: string, spec: Interface | undefined): Status {
  const mac = spec?.macAddress;
  return { name, infoSource: "domain", ...(mac ? { mac } : {}) };
}

function withPodIps(
  status: Status,
  podIps: Readonly<Record<string, readonly string[]>>,
  specs: ReadonlyMap<string, Interface>,
): Status {
  const name = status.name ?? "";
  if (!specs.has(name) || !Object.hasOwn(podIps, name)) return status;
  return withIps(status, podIps[name] ?? []);
}

function withIps(
  { ipAddress: _, ipAddresses: __, ...status }: Status,
  ips: readonly string[],
): Status {
  const [first] = ips;
  return first === undefined ? status : { ...status, ipAddress: first, ipAddresses: [...ips] };
}

function boundedGuest(reported: readonly GuestInterface[]): readonly GuestInterface[] {
  const cut = (text: string | undefined): string => String(text ?? "").slice(0, limits.text);
  return reported.slice(0, limits.interfaces).map(({ interfaceName, mac, ips = [] }) => ({
    interfaceName: cut(interfaceName),
    mac: cut(mac),
    ips: ips.slice(0, limits.ips).map(cut),
  }));
}

function withGuest(
  known: readonly Status[],
  reported: readonly GuestInterface[],
  specs: ReadonlyMap<string, Interface>,
): readonly Status[] {
  return mergeGuestInterfaces(known, reported, {
    join: (status, told) => merge(status, told, specs.get(status.name ?? "")),
    add: ({ mac = "", interfaceName, ips = [] }) =>
      withIps({ mac, infoSource: "guest-agent", ...(interfaceName ? { interfaceName } : {}) }, ips),
  });
}

function merge(
  status: Status,
  { interfaceName, ips = [] }: GuestInterface,
  spec: Interface | undefined,
): Status {
  const told = ips.filter(spec?.masquerade ? isReachable : (ip) => parseIp(ip));
  const { interfaceName: _, ...rest } = status;
  const named = interfaceName ? { ...rest, interfaceName } : rest;
  const infoSource = interfaceName ? "domain, guest-agent" : (status.infoSource ?? "");
  return withIps({ ...named, infoSource }, mergeAddresses(status.ipAddresses ?? [], told));
}

function isReachable(text: string): boolean {
  const ip = parseIp(text);
  if (!ip) return false;
  const [first = 0, second = 0] = ip;
  const linkLocal =
    ip.length === 4 ? first === 169 && second === 254 : first === 0xfe && (second & 0xc0) === 0x80;
  return !linkLocal;
}

function primaryFirst(
  statuses: readonly Status[],
  before: readonly Status[],
  vmi: VirtualMachineInstance,
): readonly Status[] {
  const primary = vmi.spec?.networks?.find(({ pod }) => pod)?.name;
  if (primary === undefined) return statuses;
  const index = statuses.findIndex(({ name }) => name === primary);
  const status = statuses[index];
  if (status) return [status, ...statuses.filter((other) => other !== status)];
  const wasReported = before.some(({ name }) => name === primary);
  return wasReported ? [{ name: primary }, ...statuses] : statuses;
}

function withMultus(
  statuses: readonly Status[],
  before: readonly Status[],
  specs: ReadonlyMap<string, Interface>,
): readonly Status[] {
  const attached = before.filter(({ infoSource }) =>
    hasInfoSource(infoSource ?? "", "multus-status"),
  );
  const names = new Set(attached.map(({ name }) => name ?? ""));
  const marked = statuses.map((status) =>
    names.has(status.name ?? "")
      ? { ...status, infoSource: addInfoSource(status.infoSource ?? "", "multus-status") }
      : status,
  );
  const missing = [...names].filter(
    (name) => specs.has(name) && !statuses.some((status) => status.name === name),
  );
  return [...marked, ...missing.map((name) => ({ name, infoSource: "multus-status" }))];
}

/** The controller decides about the name in the Pod. */
function withPodName(status: Status, before: readonly Status[]): Status {
  if (!status.name) return status;
  const { podInterfaceName: _, ...rest } = status;
  const known = before.findLast(({ name }) => name === status.name)?.podInterfaceName;
  return known ? { ...rest, podInterfaceName: known } : rest;
}
