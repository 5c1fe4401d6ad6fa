import type { ClusterConfig } from "../config/index.ts";
import { product32 } from "../product32.ts";
import { amountOf, type ResourceList, resourceAmount } from "../resource-amount.ts";
import type { CPU, VirtualMachineInstanceSpec } from "../schema/index.ts";
import { type Cause, each, fine, invalid } from "./cause.ts";

type Rule = (
  spec: VirtualMachineInstanceSpec,
  at: string,
  config: ClusterConfig,
) => readonly Cause[];

/**
 * Dedicated CPUs come from the kubelet, which gives them only to Pods whose CPU is a whole number and whose
 * requests equal their limits. So these must all be known, whole and consistent.
 */
export function dedicatedCpus(
  spec: VirtualMachineInstanceSpec,
  at: string,
  config: ClusterConfig,
): readonly Cause[] {
  if (!spec.domain.cpu?.dedicatedCpuPlacement) return fine;
  return each(rules, (rule) => rule(spec, at, config));
}

/** vCPUs in the topology; a factor that is zero counts as missing. */
export function vcpus(cpu: CPU | undefined): number {
  let count = 0;
  for (const factor of [cpu?.cores, cpu?.sockets, cpu?.threads]) {
    if (factor) count = count === 0 ? factor : product32(count, factor);
  }
  return count;
}

const placement = (at: string): string => `${at}.domain.cpu.dedicatedCpuPlacement`;

function memoryIsKnown(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  const { resources, memory } = spec.domain;
  const known =
    !resourceAmount(resources, "limits", "memory").isZero() ||
    !resourceAmount(resources, "requests", "memory").isZero() ||
    memory?.hugepages ||
    !amountOf(memory?.guest).isZero();
  if (known) return fine;
  return invalid(
    `${at}.domain.resources.limits.memory`,
    "and every other source of the guest's memory is missing; with dedicated CPUs set memory.guest, memory.hugepages, resources.requests.memory or resources.limits.memory",
  );
}

function wholeCpus(list: ResourceList): Rule {
  return (spec, at) => {
    const amount = resourceAmount(spec.domain.resources, list, "cpu");
    const whole = amount.value();
    if (whole <= 0n || whole * 1000n === amount.milliValue()) return fine;
    return invalid(
      `${at}.domain.resources.${list}.cpu`,
      `is ${amount}; dedicated CPUs must be whole, use ${whole}`,
    );
  };
}

function memoryRequestIsLimit(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  const { requested, limit } = pair(spec, "memory");
  if (requested <= 0n || limit <= 0n || requested === limit) return fine;
  return invalid(
    `${at}.domain.resources.requests.memory`,
    `is ${requested} bytes, but limits.memory is ${limit} bytes; with dedicated CPUs they must be equal`,
  );
}

function cpusAreKnown(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  const { requested, limit } = pair(spec, "cpu");
  if (requested !== 0n || limit !== 0n || vcpus(spec.domain.cpu) !== 0) return fine;
  return invalid(
    placement(at),
    "is true, but the number of CPUs is unknown; set cpu.cores (or sockets, threads) or resources.limits.cpu",
  );
}

function cpuRequestIsLimit(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  const { requested, limit } = pair(spec, "cpu");
  if (requested <= 0n || limit <= 0n || requested === limit) return fine;
  return invalid(
    placement(at),
    `is true, but resources.requests.cpu is ${requested} and limits.cpu is ${limit}; make them equal`,
  );
}

function cpusAgree(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  const { requested, limit } = pair(spec, "cpu");
  const count = BigInt(vcpus(spec.domain.cpu));
  if ((requested <= 0n && limit <= 0n) || count <= 0n) return fine;
  if (requested === count || limit === count) return fine;
  return invalid(
    placement(at),
    `is true, but the topology has ${count} vCPUs and the resources give ${requested > 0n ? requested : limit} CPUs; make them equal or leave one out`,
  );
}

function threadsOfArchitecture(
  spec: VirtualMachineInstanceSpec,
  at: string,
  config: ClusterConfig,
): readonly Cause[] {
  const threads = spec.domain.cpu?.threads ?? 0;
  const architecture = spec.architecture || config.defaultArchitecture;
  if (threads <= 1 || architecture !== "arm64") return fine;
  return invalid(
    `${at}.architecture`,
    `is arm64, which has one thread per core, but cpu.threads is ${threads}; set it to 1`,
  );
}

function atMostTwoThreads(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  const threads = spec.domain.cpu?.threads ?? 0;
  if (threads <= 2) return fine;
  return invalid(placement(at), `is true, but cpu.threads is ${threads}; use 1 or 2`);
}

function pair(
  spec: VirtualMachineInstanceSpec,
  name: "cpu" | "memory",
): { requested: bigint; limit: bigint } {
  return {
    requested: resourceAmount(spec.domain.resources, "requests", name).value(),
    limit: resourceAmount(spec.domain.resources, "limits", name).value(),
  };
}

const rules: readonly Rule[] = [
  memoryIsKnown,
  wholeCpus("requests"),
  wholeCpus("limits"),
  memoryRequestIsLimit,
  cpusAreKnown,
  cpuRequestIsLimit,
  cpusAgree,
  threadsOfArchitecture,
  atMostTwoThreads,
];
