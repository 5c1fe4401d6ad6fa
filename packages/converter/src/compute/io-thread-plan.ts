import type { Disk, DomainSpec } from "@virtkit/api/schema";
import { invalidVmi } from "../converter-error.ts";
import { quantityAt } from "./byte-count.ts";
import { cpuQuantity } from "./cpu-topology.ts";

/** How many threads serve the disks, and how they are distributed. */
export interface IoThreadPlan {
  /** Whether disks have their own threads at all. */
  readonly used: boolean;
  readonly total: number;
  /** Threads that the disks without their own share in turn. */
  readonly shared: number;
  /** Threads of the pool that serves all disks together; `undefined` without a pool. */
  readonly pool: number | undefined;
}

/** Far more than helps any guest; a bound, because each disk lists the pool. */
const maxPool = 4096;

const unused: IoThreadPlan = { used: false, total: 0, shared: 0, pool: undefined };

/** Whether a disk asks for its own thread. */
export function hasOwnThread({ dedicatedIOThread }: Disk): boolean {
  return dedicatedIOThread === true;
}

/** Counts the threads that a VMI asks for. */
export function planIoThreads(spec: DomainSpec): IoThreadPlan {
  const disks = spec.devices?.disks ?? [];
  const own = disks.filter(hasOwnThread).length;
  const policy = spec.ioThreadsPolicy ?? undefined;
  if (policy === undefined && own === 0) return unused;
  if (policy === "supplementalPool") return supplementalPool(spec);
  const limit = threadLimit(spec);
  const sharing = disks.length - own;
  // There is always one thread for the disks without their own.
  const shared = own + sharing > limit ? Math.max(1, limit - own) : sharing;
  return { used: true, total: shared + own, shared, pool: undefined };
}

function supplementalPool({ ioThreads: options }: DomainSpec): IoThreadPlan {
  const pool = options?.supplementalPoolThreadCount;
  if (pool === undefined || pool === null) {
    const path = "spec.domain.ioThreads.supplementalPoolThreadCount";
    throw invalidVmi(path, "is not set; the policy supplementalPool needs it");
  }
  if (pool > maxPool) {
    const path = "spec.domain.ioThreads.supplementalPoolThreadCount";
    throw invalidVmi(path, `${pool} threads are more than the maximum of ${maxPool}; use fewer`);
  }
  return { used: true, total: pool, shared: 0, pool };
}

function threadLimit({ ioThreadsPolicy, cpu, resources }: DomainSpec): number {
  const policy = ioThreadsPolicy ?? "shared";
  if (policy === "shared") return 1;
  if (policy !== "auto") return 0;
  // The emulator has its own CPU, and the thread runs there.
  if (cpu?.dedicatedCpuPlacement && cpu.isolateEmulatorThread) return 1;
  const path = "spec.domain.resources";
  const request = cpuQuantity(resources?.requests);
  if (request !== undefined) return 2 * wholeCpus(request, `${path}.requests.cpu`);
  const limit = cpuQuantity(resources?.limits);
  return 2 * (limit === undefined ? 1 : wholeCpus(limit, `${path}.limits.cpu`));
}

function wholeCpus(value: string | number, path: string): number {
  return Number(quantityAt(value, path).value());
}
