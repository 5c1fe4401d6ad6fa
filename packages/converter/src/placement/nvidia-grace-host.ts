import { invalidContext } from "../converter-error.ts";
import { parseCpuList } from "./cpu-list.ts";
import type { HostFiles } from "./host-files.ts";

const pciDirectory = "sys/bus/pci/devices";
const nodeDirectory = "sys/devices/system/node";
const iommuDirectory = "sys/class/iommu";

const nvidia = "10DE";
const graceGpus = new Set(["2342", "2348", "2941"]);

// Flags of a PCI resource in sysfs: memory, 64 bits wide, prefetchable.
const memoryResource = 0x200n;
const memoryTypeMask = 0xfn;
const wideAndPrefetchable = 0xcn;

/** Whether the node has the IOMMU that Grace GPUs need. */
export function hasSmmuv3(files: HostFiles): boolean {
  const names = files.list(iommuDirectory);
  if (!names) throw invalidContext("host.hostFiles", `directory /${iommuDirectory} does not exist`);
  return names.some((name) => name.includes("arm-smmu-v3"));
}

/** Refuses a device that is not a Grace GPU. */
export function requireGraceGpu(files: HostFiles, address: string, alias: string): void {
  const vendor = pciId(files.read(`${pciDirectory}/${address}/vendor`));
  const device = pciId(files.read(`${pciDirectory}/${address}/device`));
  if (vendor === nvidia && graceGpus.has(device)) return;
  const message = `${alias} at ${address} is ${vendor}:${device}, which is not a Grace GPU`;
  throw invalidContext("graceHostDeviceAliases", message);
}

function pciId(text: string): string {
  const id = text.toUpperCase();
  return id.startsWith("0X") ? id.slice(2) : id;
}

/** NUMA node of a PCI device. */
export function deviceNode(files: HostFiles, address: string): number {
  const text = files.read(`${pciDirectory}/${address}/numa_node`);
  if (/^\+?\d+$/.test(text)) return Number(text);
  throw invalidContext("host.hostFiles", `${address} belongs to no NUMA node: "${text}"`);
}

/** Bytes of a device's 64-bit prefetchable memory. */
export function prefetchableBytes(files: HostFiles, address: string): bigint {
  let total = 0n;
  for (const line of files.read(`${pciDirectory}/${address}/resource`).split("\n")) {
    const fields = line.trim().split(/\s+/);
    if (fields.length !== 3) continue;
    const [start = 0n, end = 0n, flags = 0n] = fields.map(hexNumber);
    const wanted =
      (flags & memoryTypeMask) === wideAndPrefetchable && (flags & memoryResource) !== 0n;
    if (wanted && start > 0n && end >= start) total += end - start + 1n;
  }
  if (total > 0n) return total;
  throw invalidContext("host.hostFiles", `${address} has no 64-bit prefetchable memory`);
}

function hexNumber(text: string): bigint {
  const digits = text.startsWith("0x") ? text.slice(2) : text;
  if (/^[\da-fA-F]{1,16}$/.test(digits)) return BigInt(`0x${digits}`);
  throw invalidContext("host.hostFiles", `"${text}" is not the address of a PCI resource`);
}

/** Host NUMA nodes of devices that only start transfers: named, otherwise without memory and CPUs. */
export function initiatorNodes(files: HostFiles): number[] {
  const named = `${nodeDirectory}/has_generic_initiator`;
  if (files.has(named)) {
    const text = files.read(named);
    return text === "" ? [] : nodeList(text);
  }
  return onlineNodes(files).filter((node) => isBare(files, node));
}

/** Directories of a node that are not about devices. */
const otherDirectories = new Set(["hugepages", "memory_failure", "power", "x86"]);

/** Levels of directories below a node's own in which a device may be named. */
const deviceDepth = 2;

/** Those whose directory, or one below it, names a device. */
export function nodesOfDevice(
  files: HostFiles,
  nodes: readonly number[],
  address: string,
): number[] {
  return nodes.filter((node) => {
    const directory = `${nodeDirectory}/node${node}`;
    if (files.list(directory)) return names(files, directory, address, deviceDepth);
    throw invalidContext("host.hostFiles", `directory /${directory} does not exist`);
  });
}

function names(files: HostFiles, directory: string, address: string, depth: number): boolean {
  const entries = files.list(directory) ?? [];
  if (entries.includes(address)) return true;
  if (depth === 0) return false;
  return entries.some(
    (entry) =>
      !otherDirectories.has(entry) && names(files, `${directory}/${entry}`, address, depth - 1),
  );
}

/** Distances from a node to all others, by node. */
export function nodeDistances(files: HostFiles, node: number): Map<number, number> {
  const fields = files.read(`${nodeDirectory}/node${node}/distance`).split(/\s+/);
  const distances = new Map<number, number>();
  for (const [at, other] of onlineNodes(files).entries()) {
    const field = fields[at];
    if (field !== undefined && /^\d+$/.test(field)) distances.set(other, Number(field));
  }
  return distances;
}

function onlineNodes(files: HostFiles): number[] {
  return nodeList(files.read(`${nodeDirectory}/online`));
}

function isBare(files: HostFiles, node: number): boolean {
  const meminfo = files.read(`${nodeDirectory}/node${node}/meminfo`);
  if (!/MemTotal:\s+0(?:\s|$)/.test(meminfo)) return false;
  const cpus = files.read(`${nodeDirectory}/node${node}/cpulist`);
  return cpus === "" || cpus === "none";
}

function nodeList(text: string): number[] {
  const nodes = parseCpuList(text);
  if (!nodes) throw invalidContext("host.hostFiles", `"${text}" is not a list of NUMA nodes`);
  return nodes.filter((node) => node >= 0).sort((one, other) => one - other);
}
