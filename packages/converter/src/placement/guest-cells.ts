import type { HostFacts } from "../context.ts";
import type { Domain } from "../model/domain.ts";
import { parseCpuList } from "./cpu-list.ts";

/** Why a device has no guest NUMA cell; without an address it concerns the whole domain. */
export interface CellProblem {
  readonly address?: string;
  readonly reason: string;
}

/** Guest NUMA cells of PCI devices, by host address, and the problems of the others. */
export interface GuestCells {
  readonly cells: ReadonlyMap<string, number>;
  readonly problems: readonly CellProblem[];
}

/**
 * Finds the nearest guest cell of each device: the one whose memory is bound to the device's host node,
 * otherwise the one whose CPUs are pinned there. A domain without cells gives none.
 */
export function guestCells(
  addresses: readonly string[],
  domain: Domain,
  host: HostFacts,
): GuestCells {
  const cells = new Map<string, number>();
  const problems: CellProblem[] = [];
  if (!domain.cpu.numa) return { cells, problems };
  const byMemory = cellsByMemory(domain, problems);
  const byCpu = cellsByCpu(domain, problems);
  if (byMemory.size === 0 && byCpu.size === 0) return { cells, problems };
  for (const address of addresses) {
    const node = numaNode(address, host);
    if (typeof node === "string") problems.push({ address, reason: node });
    else {
      const cell = byMemory.get(node) ?? cellOfCpus(node, host, byCpu);
      if (typeof cell === "number") cells.set(address, cell);
      else problems.push({ address, reason: cell });
    }
  }
  return { cells, problems };
}

/** The host node of a device, or why it is unknown. */
function numaNode(address: string, { pciDeviceNumaNodes = {} }: HostFacts): number | string {
  const text = pciDeviceNumaNodes[address]?.trim();
  if (text === undefined) return "its NUMA node is unknown";
  const node = /^[-+]?\d+$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(node)) return `its NUMA node "${text}" is not a number`;
  return node < 0 ? "it belongs to no NUMA node" : node;
}

/** Guest cells by the host node that their memory is bound to; a node with two cells has none. */
function cellsByMemory({ cpu, numatune }: Domain, problems: CellProblem[]): Map<number, number> {
  const found = new Map<number, number>();
  const ambiguous = new Set<number>();
  const known = new Set(cpu.numa?.cells.map(({ id }) => id));
  for (const { cellid, nodeset } of numatune?.memnodes ?? []) {
    const nodes = known.has(cellid) ? parseCpuList(nodeset) : undefined;
    if (!nodes) {
      problems.push({ reason: `the memory of guest cell ${cellid} is bound to "${nodeset}"` });
      continue;
    }
    for (const node of nodes) bind(node, cellid, found, ambiguous, problems);
  }
  return found;
}

function bind(
  node: number,
  cell: number,
  found: Map<number, number>,
  ambiguous: Set<number>,
  problems: CellProblem[],
): void {
  if (node < 0) {
    problems.push({ reason: `guest cell ${cell} is bound to the NUMA node ${node}` });
    return;
  }
  if (ambiguous.has(node)) return;
  const other = found.get(node);
  if (other === undefined || other === cell) {
    found.set(node, cell);
    return;
  }
  found.delete(node);
  ambiguous.add(node);
  problems.push({ reason: `the guest cells ${other} and ${cell} share the NUMA node ${node}` });
}

/** Guest cells by the host CPUs that their CPUs are pinned to. */
function cellsByCpu(domain: Domain, problems: CellProblem[]): Map<number, number> {
  const cellOfVcpu = cellsByVcpu(domain, problems);
  const found = new Map<number, number>();
  for (const { vcpu, cpuset } of domain.cputune?.vcpupin ?? []) {
    const cell = cellOfVcpu.get(vcpu);
    if (cell === undefined) continue;
    for (const hostCpu of parseCpuList(cpuset) ?? []) found.set(hostCpu, cell);
  }
  return found;
}

function cellsByVcpu({ cpu }: Domain, problems: CellProblem[]): Map<number, number> {
  const found = new Map<number, number>();
  for (const { id, cpus = "" } of cpu.numa?.cells ?? []) {
    const vcpus = parseCpuList(cpus);
    if (!vcpus) problems.push({ reason: `guest cell ${id} has the CPUs "${cpus}"` });
    for (const vcpu of vcpus ?? []) found.set(vcpu, id);
  }
  return found;
}

function cellOfCpus(
  node: number,
  { hostNumaNodeCPUs = {} }: HostFacts,
  byCpu: ReadonlyMap<number, number>,
): number | string {
  const cpus = parseCpuList(hostNumaNodeCPUs[node]?.trim() ?? "");
  if (!cpus) return `the CPUs of its NUMA node ${node} are unknown`;
  for (const cpu of cpus) {
    const cell = byCpu.get(cpu);
    if (cell !== undefined) return cell;
  }
  return `no guest cell belongs to its NUMA node ${node}`;
}
