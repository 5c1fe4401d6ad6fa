import type { CPU, DomainSpec, QuantityInput } from "@virtkit/api/schema";
import { quantityAt } from "./byte-count.ts";

/** Sockets, cores per socket, threads per core. */
export interface CpuTopology {
  readonly sockets: number;
  readonly cores: number;
  readonly threads: number;
}

/**
 * The topology that a VMI asks for. Without one it has a socket for each CPU of the limit, or otherwise of the
 * request, since sockets perform best.
 */
export function requestedTopology({ cpu, resources }: DomainSpec): CpuTopology {
  if (cpu?.cores || cpu?.sockets || cpu?.threads) {
    return { sockets: cpu.sockets || 1, cores: cpu.cores || 1, threads: cpu.threads || 1 };
  }
  const path = "spec.domain.resources";
  const limit = cpusOf(resources?.limits, `${path}.limits.cpu`);
  const sockets = limit ?? cpusOf(resources?.requests, `${path}.requests.cpu`) ?? 1;
  return { sockets, cores: 1, threads: 1 };
}

/** Number of virtual CPUs; it wraps at 32 bits as the hypervisor's own counter does. */
export function vcpusOf({ sockets, cores, threads }: CpuTopology): number {
  return Math.imul(Math.imul(cores, sockets), threads) >>> 0;
}

/** Number of CPUs that the VMI itself sets; 0 if it sets none. */
export function statedVcpus({ cores, sockets, threads }: CPU): number {
  let count = cores || 0;
  for (const factor of [sockets, threads])
    if (factor) count = count === 0 ? factor : count * factor;
  return count >>> 0;
}

/** CPUs of a resource list, rounded up; `undefined` if it has none. */
function cpusOf(
  resources: Record<string, QuantityInput> | undefined,
  path: string,
): number | undefined {
  const value = cpuQuantity(resources);
  return value === undefined
    ? undefined
    : Number(BigInt.asUintN(32, quantityAt(value, path).value()));
}

/** The CPU entry of a resource list. */
export function cpuQuantity(
  resources: Record<string, QuantityInput> | null | undefined,
): QuantityInput | undefined {
  return resources?.["cpu"] ?? undefined;
}
