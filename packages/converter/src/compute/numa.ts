import type { NodeTopology } from "../context.ts";
import { invalidContext, invalidVmi } from "../converter-error.ts";
import type { Draft } from "../draft.ts";
import type { DomainCpuTune } from "../model/cpu.ts";
import { bytesOf, quantityAt, small } from "./byte-count.ts";
import { guestMemory } from "./memory.ts";

/**
 * Gives the guest a NUMA cell for each host cell that its CPUs are pinned to, with its share of the memory
 * bound there, in hugepages. A node without cells leaves the domain unchanged.
 */
export function mapNumaCells(draft: Draft, node: NodeTopology, tune: DomainCpuTune): void {
  const hostCells = node.numa_cells ?? [];
  if (hostCells.length === 0) return;
  const byCell = vcpusByCell(node, tune);
  const used = hostCells.filter(({ id = 0 }) => byCell.has(id)).map(({ id = 0 }) => id);
  const { domain, spec } = draft;
  const pageSize = hugepageSize(draft);
  const sizes = cellSizes(draft, used.length, pageSize);
  const backing = domain.memoryBacking ?? {};
  domain.memoryBacking = backing;
  backing.allocation = { mode: "immediate" };
  if (spec.cpu?.realtime) backing.nosharepages = true;
  domain.cpu.numa = {
    cells: used.map((hostId, id) => ({
      id,
      cpus: (byCell.get(hostId) ?? []).join(","),
      memory: small(sizes[id] ?? 0n),
      unit: "b",
    })),
  };
  domain.numatune = {
    memory: { mode: "strict", nodeset: used.join(",") },
    memnodes: used.map((hostId, cellid) => ({ cellid, mode: "strict", nodeset: String(hostId) })),
  };
  const page = used.map((_, id) => ({ size: small(pageSize), unit: "b", nodeset: String(id) }));
  backing.hugepages = { page };
}

/** The guest's CPUs by the host cell that each is pinned to. */
function vcpusByCell(node: NodeTopology, { vcpupin }: DomainCpuTune): Map<number, number[]> {
  const cellOf = new Map<string, number>();
  for (const { id = 0, cpus } of node.numa_cells ?? []) {
    for (const cpu of cpus ?? []) cellOf.set(String(cpu.id ?? 0), id);
  }
  const byCell = new Map<number, number[]>();
  for (const { vcpu, cpuset } of vcpupin) {
    const cell = cellOf.get(cpuset);
    if (cell === undefined) {
      throw invalidContext("topology", `has no CPU ${cpuset}, which CPU ${vcpu} is pinned to`);
    }
    const list = byCell.get(cell);
    if (list) list.push(vcpu);
    else byCell.set(cell, [vcpu]);
  }
  return byCell;
}

function hugepageSize({ spec, domain }: Draft): bigint {
  const path = "spec.domain.memory.hugepages";
  const pageSize = spec.memory?.hugepages?.pageSize;
  if (!domain.memoryBacking?.hugepages || pageSize === undefined) {
    throw invalidVmi(path, "is not set; guestMappingPassthrough needs hugepages");
  }
  const size = BigInt(bytesOf(quantityAt(pageSize, `${path}.pageSize`), `${path}.pageSize`));
  if (size === 0n) throw invalidVmi(`${path}.pageSize`, "is zero; use a page size such as 2Mi");
  return size;
}

/** Whole pages for each cell; the first cells get one more if they do not divide evenly. */
function cellSizes({ spec }: Draft, cells: number, pageSize: bigint): bigint[] {
  const path = "spec.domain.memory.guest";
  const memory = BigInt(bytesOf(guestMemory(spec), path));
  if (memory % pageSize !== 0n) {
    throw invalidVmi(path, `${memory} bytes are not a multiple of the hugepage size ${pageSize}`);
  }
  const pages = memory / pageSize;
  if (pages < cells) {
    throw invalidVmi(path, `${memory} bytes are less than one hugepage for each of ${cells} cells`);
  }
  const [each, more] = [pages / BigInt(cells), pages % BigInt(cells)];
  return Array.from({ length: cells }, (_, at) => (at < more ? each + 1n : each) * pageSize);
}
