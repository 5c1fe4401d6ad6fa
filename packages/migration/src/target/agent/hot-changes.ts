import { type Names, names } from "@virtkit/api/names";
import { Quantity, quantityFrom, readQuantity } from "@virtkit/api/quantity";
import type { VirtualMachineInstance, VirtualMachineInstanceStatus } from "@virtkit/api/schema";
import { text } from "@virtkit/api/shape";
import { conditionsOf, findCondition } from "@virtkit/api/status";
import { MigrationError } from "../../migration-error.ts";
import { guardVmi } from "../../policy/guard-vmi.ts";
import { withoutCondition } from "./without.ts";

/** A change to the guest that waited for a larger Pod. */
export type HotChange = "cpus" | "memory";

/** Which of the pending changes can be made now. */
export interface HotChangePlan {
  /** For the launcher, in order. */
  readonly changes: readonly HotChange[];
  /** Why the others cannot be made: the new Pod is too small for them. They no longer wait. */
  readonly problems: readonly string[];
}

/** What the plan depends on besides the VMI. */
export interface HotChangeFacts {
  /** What the launcher Pod needs in addition to the guest's memory, unless the target has reported it. */
  memoryOverhead(): Quantity;
  readonly names?: Pick<Names, "labels">;
}

/**
 * Which changes of CPUs and memory a guest that has moved gets, by what its new Pod was given.
 *
 * @throws MigrationError if the VMI is not shaped like one.
 */
export function planHotChanges(vmi: VirtualMachineInstance, facts: HotChangeFacts): HotChangePlan {
  return guardVmi(vmi, () => {
    const obstacles: Readonly<Record<HotChange, string | undefined>> = {
      cpus: waits(vmi, "cpus") ? obstacleToCpus(vmi, facts) : "",
      memory: waits(vmi, "memory") ? obstacleToMemory(vmi, facts) : "",
    };
    const all = Object.entries(obstacles) as [HotChange, string | undefined][];
    return {
      changes: all.flatMap(([change, obstacle]) => (obstacle === undefined ? [change] : [])),
      problems: all.flatMap(([, obstacle]) => obstacle || []),
    };
  });
}

const conditionOf: Readonly<Record<HotChange, string>> = {
  cpus: "HotVCPUChange",
  memory: "HotMemoryChange",
};

function waits(vmi: VirtualMachineInstance, change: HotChange): boolean {
  return findCondition(conditionsOf(vmi), conditionOf[change]) !== undefined;
}

function obstacleToCpus(
  { metadata, spec }: VirtualMachineInstance,
  { names: { labels } = names() }: HotChangeFacts,
): string | undefined {
  const { cpu } = spec.domain;
  if (!cpu?.dedicatedCpuPlacement) return undefined;
  const limit = text(metadata?.labels?.[labels.podCpuLimits]);
  if (!/^[+-]?\d+$/.test(limit)) {
    return `the target Pod's CPU limit is not known: label ${labels.podCpuLimits} is "${limit}"`;
  }
  const wanted = (cpu.sockets || 1) * (cpu.cores || 1) * (cpu.threads || 1);
  return wanted > Number(limit)
    ? `${wanted} CPUs are needed, but the target Pod has ${limit}`
    : undefined;
}

function obstacleToMemory(
  { metadata, spec, status }: VirtualMachineInstance,
  { memoryOverhead, names: { labels } = names() }: HotChangeFacts,
): string | undefined {
  const request = text(metadata?.labels?.[labels.podMemoryRequests]);
  const available = amount(request);
  if (!available) {
    return `the target Pod's memory is not known: label ${labels.podMemoryRequests} is "${request}"`;
  }
  const told = status?.migrationState?.targetMemoryOverhead;
  const overhead = told === undefined ? memoryOverhead() : quantityFrom(told);
  const guest = quantityFrom(spec.domain.resources?.requests?.["memory"] ?? "0");
  return available.cmp(overhead.add(guest)) < 0
    ? `${overhead.add(guest)} of memory are needed, but the target Pod has ${request}`
    : undefined;
}

function amount(value: string): Quantity | undefined {
  const read = readQuantity(value);
  return read instanceof Quantity ? read : undefined;
}

/**
 * The VMI once the changes have been tried: what was made is in the status, and nothing waits any more. A launcher
 * that could not add memory leaves the condition as `False`, for people to see.
 *
 * @param outcomes of the changes of the plan
 * @throws MigrationError if memory was added to a VMI whose status says nothing about its memory.
 */
export function withHotChanges(
  vmi: VirtualMachineInstance,
  outcomes: Readonly<Partial<Record<HotChange, "done" | "failed">>>,
): VirtualMachineInstance {
  return guardVmi(vmi, () => {
    const cpus = withoutCondition(vmi.status ?? {}, conditionOf.cpus);
    const status = outcomes.cpus === "done" ? { ...cpus, ...topologyOf(vmi) } : cpus;
    return { ...vmi, status: withMemory(vmi, status, outcomes.memory) };
  });
}

function topologyOf({
  spec,
}: VirtualMachineInstance): Pick<VirtualMachineInstanceStatus, "currentCPUTopology"> {
  const { sockets, cores, threads } = spec.domain.cpu ?? {};
  const set = Object.entries({ sockets, cores, threads }).filter(([, count]) => count);
  return { currentCPUTopology: Object.fromEntries(set) };
}

function withMemory(
  { spec }: VirtualMachineInstance,
  status: VirtualMachineInstanceStatus,
  outcome: "done" | "failed" | undefined,
): VirtualMachineInstanceStatus {
  const settled = withoutCondition(status, conditionOf.memory);
  if (outcome === "failed") {
    const failed = {
      type: conditionOf.memory,
      status: "False",
      reason: "Memory Hotplug Failed",
      message: "the launcher could not add the memory; restart the VM to get it",
    };
    return { ...settled, conditions: [...(settled.conditions ?? []), failed] };
  }
  if (outcome === undefined) return settled;
  const guestRequested = spec.domain.memory?.guest;
  if (!settled.memory) {
    const path = "status.memory";
    const message = `${path} is missing, so the new memory cannot be recorded`;
    throw new MigrationError("MIGRATION_INPUT_INVALID", message, { path });
  }
  return { ...settled, memory: { ...settled.memory, ...(guestRequested && { guestRequested }) } };
}
