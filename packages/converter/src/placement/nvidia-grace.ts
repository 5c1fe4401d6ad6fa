import { invalidContext, invalidVmi } from "../converter-error.ts";
import type { Configurator, Draft } from "../draft.ts";
import { nameOfAlias } from "../model/alias.ts";
import type { DomainController } from "../model/controller.ts";
import type { Domain } from "../model/domain.ts";
import type { DomainHostDevice } from "../model/host-device.ts";
import type { DomainIommu } from "../model/platform-device.ts";
import { type CellDevice, placeOnExpanderBuses } from "./expander-buses.ts";
import { HostFiles } from "./host-files.ts";
import {
  deviceNode,
  hasSmmuv3,
  initiatorNodes,
  nodeDistances,
  nodesOfDevice,
  prefetchableBytes,
  requireGraceGpu,
} from "./nvidia-grace-host.ts";
import { formatPciAddress } from "./pci-address.ts";
import { cellDevices } from "./pci-numa.ts";

/** NUMA nodes that a Grace GPU has for its own memory. */
const nodesPerGpu = 8;

/** Minimum PCI window of a GPU; NVIDIA's guide asks for 4 TiB with four of them. */
const windowFloor = 512n * 1024n ** 3n;
const windowMarginKib = 1024n * 1024n;
const maxWindowKib = 16n * 1024n ** 3n;

/** What the IOMMUs of Grace hosts support; the host does not report it. */
const iommuOptions = { accel: "on", ats: "on", ril: "off", ssidSize: "20", oas: "48" };

/** Requirements of the node are checked in its files. */
export const grace: Configurator = {
  name: "grace",
  summary:
    "NVIDIA Grace: each GPU gets its own IOMMU, bus and NUMA nodes, with the host's distances.",
  configure(draft: Draft): void {
    const aliases = (draft.context.graceHostDeviceAliases ?? []).filter((alias) => alias !== "");
    if ((draft.context.graceHostDeviceAliases ?? []).length === 0) return;
    requireSettings(draft);
    const files = new HostFiles(draft.context.host?.hostFiles ?? {});
    if (!hasSmmuv3(files)) {
      throw invalidContext("host.hostFiles", "the node has no SMMUv3, which Grace GPUs need");
    }
    if (aliases.length > 0) placeGpus(draft, aliases, files);
  },
};

function requireSettings({ spec, annotations, names, architecture, context }: Draft): void {
  if (!context.graceIOVirtualizationEnabled) {
    throw invalidContext("graceIOVirtualizationEnabled", "must be on for Grace GPUs");
  }
  if (!context.pciNumaAwareTopologyEnabled) {
    throw invalidContext("pciNumaAwareTopologyEnabled", "must be on for Grace GPUs");
  }
  if (!context.iommufdEnabled) {
    throw invalidContext("iommufdEnabled", "Grace GPUs need an IOMMU file descriptor");
  }
  if (!spec.cpu?.dedicatedCpuPlacement) {
    throw invalidVmi("spec.domain.cpu.dedicatedCpuPlacement", "must be true for Grace GPUs");
  }
  if (!architecture.hasPcie) {
    throw invalidVmi("spec.architecture", "Grace GPUs need PCIe ports");
  }
  const { disablePciHole64, placePciDevicesOnRootComplex } = names.annotations;
  for (const annotation of [disablePciHole64, placePciDevicesOnRootComplex]) {
    if (annotations[annotation] !== "true") continue;
    throw invalidVmi(`metadata.annotations["${annotation}"]`, "is not possible with Grace GPUs");
  }
}

/** A GPU, with its place and its needs. */
interface Gpu {
  readonly alias: string;
  readonly device: DomainHostDevice;
  readonly source: string;
}

function placeGpus(draft: Draft, aliases: readonly string[], files: HostFiles): void {
  const { domain } = draft;
  const gpus = findGpus(domain, aliases, files);
  const hostNodes = boundNodes(domain);
  const guestNodeOf = new Map([...hostNodes].map(([guest, host]) => [host, guest]));
  if (guestNodeOf.size < hostNodes.size) {
    throw invalidContext(
      "topology",
      "two guest NUMA cells share a host node, which is not possible with Grace GPUs",
    );
  }
  const initiators = initiatorsOf(gpus, files);
  const placed: CellDevice[] = [];
  let window = 0n;
  for (const [at, { device, source, alias }] of gpus.entries()) {
    const cell = guestNodeOf.get(deviceNode(files, source));
    if (cell === undefined) {
      throw invalidContext("topology", `no guest NUMA cell belongs to the host node of ${alias}`);
    }
    window += windowOf(prefetchableBytes(files, source));
    addNodes(domain, device, initiators[at] ?? [], hostNodes);
    placed.push({ device, source, cell, iommu: iommu() });
  }
  const root = rootController(draft);
  const own = new Set(gpus.map(({ source }) => source));
  const others = cellDevices(draft).devices.filter(({ source }) => !own.has(source));
  placeOnExpanderBuses(domain, [...placed, ...others]);
  root.pcihole64 = { unit: "KiB", value: Number(windowKib(window)) };
  setDistances(domain, hostNodes, files);
}

function findGpus(domain: Domain, aliases: readonly string[], files: HostFiles): Gpu[] {
  return [...new Set(aliases)].sort().map((alias) => {
    const device = domain.devices.hostDevices.find((one) => nameOfAlias(one.alias) === alias);
    const address = device?.source.address;
    if (device?.type !== "pci" || !address || device.address) {
      const message = `${alias} must be an assigned PCI device without an address in the guest`;
      throw invalidContext("graceHostDeviceAliases", message);
    }
    const source = formatPciAddress(address);
    requireGraceGpu(files, source, alias);
    return { alias, device, source };
  });
}

/** The host node that the memory of each guest cell is bound to. */
function boundNodes({ cpu, numatune }: Domain): Map<number, number> {
  const nodes = new Map<number, number>();
  for (const { cellid, nodeset } of numatune?.memnodes ?? []) {
    if (/^\d+$/.test(nodeset)) nodes.set(cellid, Number(nodeset));
  }
  const cells = cpu.numa?.cells ?? [];
  if (cells.length === 0 || cells.some(({ id }) => !nodes.has(id))) {
    const path = "spec.domain.cpu.numa.guestMappingPassthrough";
    throw invalidVmi(path, "must be set: Grace GPUs need guest NUMA cells bound to host nodes");
  }
  return nodes;
}

/** The host nodes of each GPU: those that name it, otherwise the next eight free ones. */
function initiatorsOf(gpus: readonly Gpu[], files: HostFiles): number[][] {
  const all = initiatorNodes(files);
  const named = gpus.map(({ source }) => nodesOfDevice(files, all, source));
  const lists = named.some((nodes) => nodes.length > 0)
    ? named
    : gpus.map((_, at) => all.slice(at * nodesPerGpu, (at + 1) * nodesPerGpu));
  const distinct = new Set(lists.flat());
  if (
    lists.some((nodes) => nodes.length !== nodesPerGpu) ||
    distinct.size !== lists.flat().length
  ) {
    const message = `each of ${gpus.length} Grace GPU(s) needs its own ${nodesPerGpu} NUMA nodes on the host`;
    throw invalidContext("host.hostFiles", message);
  }
  return lists;
}

/** Gives a GPU guest cells without memory or CPUs, one for each of its host nodes. */
function addNodes(
  { cpu }: Domain,
  device: DomainHostDevice,
  initiators: readonly number[],
  hostNodes: Map<number, number>,
): void {
  const cells = cpu.numa?.cells ?? [];
  const first = Math.max(0, ...cells.map(({ id }) => id)) + 1;
  for (const [at, host] of initiators.entries()) {
    cells.push({ id: first + at, memory: 0, unit: "KiB" });
    hostNodes.set(first + at, host);
  }
  device.driver = { iommufd: "yes" };
  device.acpi = { nodeset: `${first}-${first + initiators.length - 1}` };
}

function iommu(): DomainIommu {
  return { model: "smmuv3", driver: { pciBus: undefined, ...iommuOptions } };
}

function rootController({ names, domain: { devices } }: Draft): DomainController {
  const pci = devices.controllers.filter(({ type }) => type === "pci");
  const known = pci.find(({ model }) => model === "pcie-root");
  if (known?.pcihole64?.value === 0) {
    const path = `metadata.annotations["${names.annotations.disablePciHole64}"]`;
    throw invalidVmi(path, "is not possible with Grace GPUs");
  }
  if (known?.index === 0) return known;
  if (known || pci.some(({ index }) => index === 0)) {
    throw invalidVmi("spec.domain.devices", "the PCIe root must be the PCI controller 0");
  }
  const root: DomainController = { type: "pci", index: 0, model: "pcie-root" };
  devices.controllers.push(root);
  return root;
}

/** A GPU's part of the window. */
function windowOf(bytes: bigint): bigint {
  if (bytes < windowFloor) return windowFloor;
  return bytes;
}

/** The window for all GPUs: a power of two, in KiB. */
function windowKib(bytes: bigint): bigint {
  const needed = (bytes + 1023n) / 1024n + windowMarginKib;
  let size = 1n;
  while (size < needed) size *= 2n;
  if (size <= maxWindowKib) return size;
  throw invalidContext("host.hostFiles", `the Grace GPUs need a PCI window of ${size} KiB`);
}

/** Gives every guest cell the distances of its host node. */
function setDistances(
  { cpu }: Domain,
  hostNodes: ReadonlyMap<number, number>,
  files: HostFiles,
): void {
  const guests = [...hostNodes.keys()].sort((one, other) => one - other);
  for (const cell of cpu.numa?.cells ?? []) {
    const host = hostNodes.get(cell.id);
    if (host === undefined) continue;
    const distances = nodeDistances(files, host);
    const siblings = guests.map((id) => {
      const distance = distances.get(hostNodes.get(id) ?? -1);
      if (distance === undefined) {
        throw invalidContext(
          "host.hostFiles",
          `the distance from node ${host} to that of guest cell ${id} is unknown`,
        );
      }
      // 10 means the cell itself, but the GPU's nodes report it for each other.
      return { id, value: id !== cell.id && distance === 10 ? 11 : distance };
    });
    cell.distances = { siblings };
  }
}
