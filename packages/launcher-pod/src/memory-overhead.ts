import type { ClusterConfig } from "@virtkit/api/config";
import { fromBytes, newQuantity, newScaledQuantity, type Quantity } from "@virtkit/api/quantity";
import type { VirtualMachineInstance, VirtualMachineInstanceSpec } from "@virtkit/api/schema";
import { hasDedicatedCpus, hasTpm, hasVfioDevices, vcpuCount, wantsSev } from "./guest-traits.ts";
import type { LauncherProfile } from "./launcher-profile.ts";
import { wantsGuaranteedQos } from "./quality-of-service.ts";
import { readAmount } from "./read-amount.ts";
import { virtkitLauncherProfile } from "./virtkit-profile.ts";

/** One reason why a guest takes more memory than it sees. */
export interface OverheadPart {
  readonly name: string;
  readonly amount: Quantity;
  readonly because: string;
}

/** Memory that a guest takes beside what it sees, in total and item by item. */
export interface MemoryOverhead {
  readonly total: Quantity;
  /** The parts, in the order in which they were added; their sum is the total. */
  readonly parts: readonly OverheadPart[];
}

const kilo = 3;
const mebibytes = (count: number): Quantity => fromBytes(count * 1024 * 1024);

const perVcpu = 8;
const ioThread = mebibytes(8);
const videoMemory = mebibytes(32);
const arm64Flash = mebibytes(128);
const vfioSpace = mebibytes(1024);
const metricsDisk = mebibytes(1);
const probeProgram = mebibytes(100);
const perProbe = mebibytes(10);
const sevBuffers = mebibytes(256);
const tpmEmulator = mebibytes(53);
const guaranteedMargin = mebibytes(100);
const passtForwarding = mebibytes(250);

/**
 * Estimates the memory of a launcher Pod beyond what its guest sees. Generous on purpose: a Pod
 * over its limit is killed with the guest in it.
 *
 * The share for page tables follows the memory *request*: a VMI that states only `memory.guest`
 * counts none, as in KubeVirt. A ratio in the configuration that is not a number is ignored.
 */
export function memoryOverhead(
  vmi: VirtualMachineInstance,
  config: ClusterConfig,
  profile: LauncherProfile = virtkitLauncherProfile,
): MemoryOverhead {
  const { spec } = vmi;
  const parts: OverheadPart[] = [];
  let total = newScaledQuantity(0, kilo);
  const add = (name: string, amount: Quantity, because: string): void => {
    total = total.add(amount);
    parts.push({ name, amount, because });
  };
  add("page tables", pageTables(spec), "1/512 of spec.domain.resources.requests.memory");
  for (const { name, memory } of profile.processes) {
    add(name, readAmount(memory, `profile.processes.${name}`), "a process beside the guest");
  }
  addProcessors(spec, add);
  addDevices(spec, spec.architecture || config.cpuArchitecture, add);
  addProbes(spec, add);
  addConfidentiality(spec, add);
  addReservations(spec, add);
  const ratio = ratioOf(config.additionalGuestMemoryOverheadRatio);
  if (ratio !== undefined) {
    const extra = Math.trunc(Number(total.scaledValue(kilo)) * (ratio - 1));
    const because = `configuration.additionalGuestMemoryOverheadRatio is ${ratio}`;
    add("ratio", newScaledQuantity(extra, kilo), because);
  }
  addNetwork(spec, config, add);
  return { total, parts };
}

type Add = (name: string, amount: Quantity, because: string) => void;

function pageTables({ domain }: VirtualMachineInstanceSpec): Quantity {
  const requested = domain.resources?.requests?.["memory"] ?? 0;
  const memory = readAmount(requested, "spec.domain.resources.requests.memory");
  return newQuantity((memory.scaledValue(kilo) * 1000n) / 512n, "DecimalSI");
}

function addProcessors(spec: VirtualMachineInstanceSpec, add: Add): void {
  const vcpus = Math.max(1, countVcpus(spec));
  add("vCPUs", mebibytes(perVcpu * vcpus), `${perVcpu}Mi for each of ${vcpus}`);
  add("IO thread", ioThread, "every guest has one");
}

/** From the topology; a VMI from before defaults were written may only have resources. */
function countVcpus({ domain }: VirtualMachineInstanceSpec): number {
  if (domain.cpu) return vcpuCount(domain.cpu);
  const limit = domain.resources?.limits?.["cpu"];
  if (limit !== undefined) return wholeCpus(limit, "limits");
  const request = domain.resources?.requests?.["cpu"];
  return request === undefined ? 0 : wholeCpus(request, "requests");
}

function wholeCpus(amount: string | number, bound: string): number {
  return Number(readAmount(amount, `spec.domain.resources.${bound}.cpu`).value());
}

function addDevices(spec: VirtualMachineInstanceSpec, architecture: string, add: Add): void {
  if (spec.domain.devices.autoattachGraphicsDevice !== false) {
    add("video memory", videoMemory, "spec.domain.devices.autoattachGraphicsDevice is not false");
  }
  if (architecture === "arm64") add("firmware", arm64Flash, "arm64 has two flash chips of 64Mi");
  if (hasVfioDevices(spec)) {
    add(
      "VFIO",
      vfioSpace,
      "devices of the host: their MMIO space is locked with the guest's memory",
    );
  }
  if (spec.volumes?.some(({ downwardMetrics }) => downwardMetrics)) {
    add("downward metrics", metricsDisk, "spec.volumes has a disk of metrics, kept in memory");
  }
}

function addProbes({ livenessProbe, readinessProbe }: VirtualMachineInstanceSpec, add: Add): void {
  if (livenessProbe?.exec) add("liveness probe", perProbe, "spec.livenessProbe.exec");
  if (readinessProbe?.exec) add("readiness probe", perProbe, "spec.readinessProbe.exec");
  if (livenessProbe?.exec || readinessProbe?.exec) {
    add("probe program", probeProgram, "commands in the guest are started by a program beside it");
  }
}

function addConfidentiality(spec: VirtualMachineInstanceSpec, add: Add): void {
  if (wantsSev(spec)) add("SEV", sevBuffers, "spec.domain.launchSecurity");
  if (hasTpm(spec)) add("TPM", tpmEmulator, "spec.domain.devices.tpm: its emulator is a process");
}

function addReservations(spec: VirtualMachineInstanceSpec, add: Add): void {
  if (hasDedicatedCpus(spec) || wantsGuaranteedQos(spec)) {
    add("margin", guaranteedMargin, "requests equal limits, so nothing else could be borrowed");
  }
  const added = spec.domain.memory?.reservedOverhead?.addedOverhead;
  if (added !== undefined && added !== null) {
    const path = "spec.domain.memory.reservedOverhead.addedOverhead";
    add("reserved", readAmount(added, path), path);
  }
}

/** A decimal number, as Go's strconv reads it; nothing else that it would read makes sense here. */
function ratioOf(text: string | undefined): number | undefined {
  if (!text || !/^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$/.test(text)) return undefined;
  const ratio = Number(text);
  return Number.isFinite(ratio) ? ratio : undefined;
}

function addNetwork(spec: VirtualMachineInstanceSpec, config: ClusterConfig, add: Add): void {
  const interfaces = spec.domain.devices.interfaces ?? [];
  if (interfaces.some(({ passtBinding }) => passtBinding)) {
    add("passt", passtForwarding, "an interface with passtBinding forwards all ports");
  }
  const plugins = config.networkBindings;
  const counted = new Set<string>();
  for (const { binding } of interfaces) {
    if (!binding || counted.has(binding.name) || !Object.hasOwn(plugins, binding.name)) continue;
    counted.add(binding.name);
    const amount = plugins[binding.name]?.computeResourceOverhead?.requests?.["memory"];
    if (amount === undefined) continue;
    const path = `configuration.network.binding.${binding.name}.computeResourceOverhead`;
    add(`plugin ${binding.name}`, readAmount(amount, path), path);
  }
}
