import type { CPU } from "@virtkit/api/schema";
import { type ConverterError, invalidContext, invalidVmi } from "../converter-error.ts";
import type { Configurator, Draft } from "../draft.ts";
import type { DomainCpuTune } from "../model/cpu.ts";
import { CpuPool } from "./cpu-pool.ts";
import { statedVcpus } from "./cpu-topology.ts";
import { mapNumaCells } from "./numa.ts";

export const cpuPinning: Configurator = {
  name: "cpu-pinning",
  summary:
    "Host CPUs for the guest's CPUs, emulator and I/O threads, if the VMI has dedicated CPUs.",
  configure(draft: Draft): void {
    const { vmi, spec, context, domain } = draft;
    if (!spec.cpu?.dedicatedCpuPlacement) return;
    if (!context.topology) {
      throw invalidContext("topology", "is unknown; dedicated CPUs need the node's topology");
    }
    const pool = new CpuPool(context.cpuSet ?? [], context.topology, draft.topology.threads);
    const tune = pinVcpus(draft, pool);
    domain.cputune = tune;
    if (vmi.spec.architecture === "amd64") hintDedicated(draft);
    const poolThreads = pinThreadPool(draft, pool, tune);
    pinEmulator(draft, spec.cpu, pool, tune, poolThreads);
    if (draft.ioThreads.used && poolThreads === 0) pinIoThreads(draft, spec.cpu, tune);
    if (spec.cpu.realtime) {
      domain.features ??= {};
      domain.features.pmu = { state: "off" };
    }
    if (spec.cpu.numa?.guestMappingPassthrough) mapNumaCells(draft, context.topology, tune);
  },
};

function pinVcpus(draft: Draft, pool: CpuPool): DomainCpuTune {
  const strict = Boolean(draft.spec.cpu?.numa?.guestMappingPassthrough);
  const { topology, domain } = draft;
  // Sockets that can be plugged in later have no CPUs yet.
  const sockets = Math.min(topology.sockets, domain.cpu.topology?.sockets ?? topology.sockets);
  const { cpus, missing } = pool.takeCores({ ...topology, sockets }, !strict);
  if (missing > 0) {
    const message = strict
      ? `${missing} core(s) do not fit into a NUMA cell of the Pod's CPUs; request fewer, or remove guestMappingPassthrough`
      : `the Pod has too few CPUs: ${missing} core(s) have none`;
    throw invalidContext("cpuSet", message);
  }
  const vcpupin = cpus.map((cpu, vcpu) => ({ vcpu, cpuset: String(cpu) }));
  return { vcpupin, emulatorpin: undefined, iothreadpin: [] };
}

/** Tells the guest that it may spin, because it shares its CPUs with nobody. */
function hintDedicated({ domain }: Draft): void {
  domain.features ??= {};
  domain.features.kvm ??= {};
  domain.features.kvm.hintDedicated = { state: "on" };
}

/** The pool has its own CPUs, in addition to the guest's. Returns how many. */
function pinThreadPool({ ioThreads }: Draft, pool: CpuPool, tune: DomainCpuTune): number {
  const count = ioThreads.pool ?? 0;
  for (let iothread = 1; iothread <= count; iothread++) {
    tune.iothreadpin.push({ iothread, cpuset: takeThread(pool, `I/O thread ${iothread}`) });
  }
  return count;
}

function pinEmulator(
  { annotations, names }: Draft,
  cpu: CPU,
  pool: CpuPool,
  tune: DomainCpuTune,
  poolThreads: number,
): void {
  if (!cpu.isolateEmulatorThread) return;
  const cpus = [takeThread(pool, "the emulator")];
  const even = (statedVcpus(cpu) + poolThreads) % 2 === 0;
  // With one CPU more than an even number, hosts that assign whole cores waste a thread.
  if (even && Object.hasOwn(annotations, names.annotations.emulatorThreadCompleteToEvenParity)) {
    cpus.push(takeThread(pool, "the emulator's second thread"));
  }
  tune.emulatorpin = { cpuset: cpus.join(",") };
}

function takeThread(pool: CpuPool, user: string): string {
  const thread = pool.takeThread();
  if (thread !== undefined) return String(thread);
  throw invalidContext("cpuSet", `the Pod has no CPU left for ${user}`);
}

/** I/O threads run with the emulator, or on the guest's CPUs in equal shares. */
function pinIoThreads({ context, domain }: Draft, cpu: CPU, tune: DomainCpuTune): void {
  const threads = domain.iothreads ?? 0;
  if (threads === 0) {
    const message = "asks for I/O threads, but there is no disk to serve; remove the policy";
    throw invalidVmi("spec.domain.ioThreadsPolicy", message);
  }
  if (cpu.isolateEmulatorThread) {
    tune.iothreadpin.push({ iothread: 1, cpuset: tune.emulatorpin?.cpuset ?? "" });
    return;
  }
  const vcpus = statedVcpus(cpu);
  if (vcpus === 0) throw invalidVmi("spec.domain.cpu", "sets no cores, sockets or threads");
  const available = context.cpuSet?.length ?? 0;
  if (threads < vcpus && vcpus > available) throw tooFewCpus(available);
  const shares = threads >= vcpus ? singleCpus(threads, vcpus) : evenShares(threads, vcpus);
  for (const [at, share] of shares.entries()) {
    tune.iothreadpin.push({ iothread: at + 1, cpuset: cpuset(context.cpuSet ?? [], share) });
  }
}

/** One CPU each, in turn from the second one. */
function singleCpus(threads: number, vcpus: number): number[][] {
  return Array.from({ length: threads }, (_, at) => [(at + 1) % vcpus]);
}

/** Neighbouring CPUs; the first threads get one more if the number is not even. */
function evenShares(threads: number, vcpus: number): number[][] {
  const [size, larger] = [Math.floor(vcpus / threads), vcpus % threads];
  let next = 0;
  return Array.from({ length: threads }, (_, at) =>
    Array.from({ length: at < larger ? size + 1 : size }, () => next++),
  );
}

function cpuset(cpuSet: readonly number[], places: readonly number[]): string {
  const cpus = places.map((place) => cpuSet[place]);
  if (cpus.includes(undefined)) throw tooFewCpus(cpuSet.length);
  return cpus.join(",");
}

function tooFewCpus(available: number): ConverterError {
  return invalidContext("cpuSet", `has ${available} CPUs, but the I/O threads need more`);
}
