import type { Configurator, Draft } from "../draft.ts";
import type { DomainMemoryBacking } from "../model/memory.ts";
import { small } from "./byte-count.ts";
import { guestMemory } from "./memory.ts";

export const memoryBacking: Configurator = {
  name: "memory-backing",
  summary: "Hugepages, and memory that other processes (virtiofsd, passt) can map.",
  configure(draft: Draft): void {
    const { spec, annotations, names, domain } = draft;
    const hugepages = Boolean(spec.memory?.hugepages);
    const shared = isShared(draft);
    if (!hugepages && !shared) return;
    const backing: DomainMemoryBacking = {
      hugepages: hugepages ? { page: [] } : undefined,
      nosharepages: undefined,
      source: undefined,
      access: shared ? { mode: "shared" } : undefined,
    };
    domain.memoryBacking = backing;
    if (!shared && annotations[names.annotations.memfd] === "false") return;
    backing.source = { type: "memfd" };
    addSingleCell(draft);
  },
};

function isShared({ devices }: Draft): boolean {
  return (
    (devices.filesystems ?? []).some(({ virtiofs }) => virtiofs) ||
    (devices.interfaces ?? []).some(({ passtBinding }) => passtBinding)
  );
}

/** QEMU supports memfd only for the memory of a NUMA cell. */
function addSingleCell({ spec, domain }: Draft): void {
  const cpus = `0-${((domain.vcpu?.count ?? 0) - 1) >>> 0}`;
  const memory = small(guestMemory(spec).value() / 1024n);
  domain.cpu.numa = { cells: [{ id: 0, cpus, memory, unit: "KiB" }] };
}
