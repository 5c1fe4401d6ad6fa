import type { ClusterConfig } from "@virtkit/api/config";
import { fromBytes, newQuantity, newScaledQuantity, type Quantity } from "@virtkit/api/quantity";
import type { VirtualMachineInstance, VirtualMachineInstanceSpec } from "@virtkit/api/schema";
import { guardInput } from "./guard-input.ts";
import { hasDedicatedCpus, hasTpm, hasVfioDevices, vcpuCount, wantsSev } from "./guest-traits.ts";
import type { LauncherProfile } from "./launcher-profile.ts";
import { wantsGuaranteedQos } from "./quality-of-service.ts";
import { readAmount } from "./read-amount.ts";
import { readDecimal } from "./read-decimal.ts";
import { virtkitLauncherProfile } from "./virtkit-profile.ts";

/** One reason why a guest needs more memory than it sees. */
export interface OverheadPart {
  readonly name: string;
  readonly amount: Quantity;
  readonly because: string;
}

/** Memory that a guest needs beyond what it sees, in total and item by item. */
export interface MemoryOverhead {
  readonly total: Quantity;
  /** The parts, in the order in which they were added; their sum is the total. */
  readonly parts: readonly OverheadPart[];
}

const kilo = 3;
const mebibyte = 1024 * 1024;

const perVcpu = 8 * mebibyte;
const ioThread = 8 * mebibyte;
const videoMemory = 32 * mebibyte;
const arm64Flash = 128 * mebibyte;
const vfioSpace = 1024 * mebibyte;
const metricsDisk = 1 * mebibyte;
const probeProgram = 100 * mebibyte;
const perProbe = 10 * mebibyte;
const sevBuffers = 256 * mebibyte;
const tpmEmulator = 53 * mebibyte;
const guaranteedMargin = 100 * mebibyte;
const passtForwarding = fromBytes(250 * mebibyte);

/** Records one part. As with explanations, nothing is built if nobody listens. */
type Note = (name: string, amount: Quantity | number, because: string) => void;

/**
 * Estimates the memory of a launcher Pod beyond what its guest sees. The estimate is generous on purpose, because a
 * Pod that exceeds its limit is killed together with its guest.
 *
 * The share for page tables depends on the memory *request*: a VMI that sets only `memory.guest` counts none, as in
 * KubeVirt. A ratio in the configuration that is not a number is ignored. A VMI with the wrong shape causes a
 * `LauncherPodError` with the `path` of the field.
 *
 * @example
 * const { total, parts } = memoryOverhead(vmi, clusterConfig());
 */
export function memoryOverhead(
  vmi: VirtualMachineInstance,
  config: ClusterConfig,
  profile: LauncherProfile = virtkitLauncherProfile(config),
): MemoryOverhead {
  const parts: OverheadPart[] = [];
  const total = guardInput(vmi, () =>
    overheadTotal(vmi, config, profile, (name, amount, because) => {
      const quantity = typeof amount === "number" ? fromBytes(amount) : amount;
      parts.push({ name, amount: quantity, because });
    }),
  );
  return { total, parts };
}

/** The total of {@link memoryOverhead} alone. */
export function overheadTotal(
  { spec }: VirtualMachineInstance,
  config: ClusterConfig,
  profile: LauncherProfile,
  note?: Note,
): Quantity {
  const tables = pageTables(spec);
  note?.("page tables", tables, "1/512 of spec.domain.resources.requests.memory");
  const fixed =
    processes(profile, note) +
    processors(spec, note) +
    devices(spec, spec.architecture || config.cpuArchitecture, note) +
    probes(spec, note) +
    confidentiality(spec, note);
  let total = tables.add(fromBytes(fixed));
  const reserved = spec.domain.memory?.reservedOverhead?.addedOverhead ?? undefined;
  if (reserved !== undefined) {
    const path = "spec.domain.memory.reservedOverhead.addedOverhead";
    const amount = readAmount(reserved, path);
    note?.("reserved", amount, path);
    total = total.add(amount);
  }
  total = scaled(total, config, note);
  return total.add(networks(spec, config, note));
}

function pageTables({ domain }: VirtualMachineInstanceSpec): Quantity {
  const requested = domain.resources?.requests?.["memory"] ?? 0;
  const kilobytes = readAmount(requested, "spec.domain.resources.requests.memory").scaledValue(
    kilo,
  );
  return newQuantity((kilobytes * 1000n) / 512n, "DecimalSI");
}

/** By profile, because one profile serves all guests. */
const processMemory = new WeakMap<LauncherProfile, number>();

function processes(profile: LauncherProfile, note: Note | undefined): number {
  let bytes = note ? undefined : processMemory.get(profile);
  if (bytes !== undefined) return bytes;
  bytes = 0;
  for (const { name, memory } of profile.processes) {
    const amount = readAmount(memory, `profile.processes.${name}`);
    note?.(name, amount, "a process beside the guest");
    bytes += Number(amount.value());
  }
  processMemory.set(profile, bytes);
  return bytes;
}

function processors(spec: VirtualMachineInstanceSpec, note: Note | undefined): number {
  const vcpus = Math.max(1, countVcpus(spec));
  note?.("vCPUs", perVcpu * vcpus, `8Mi for each of ${vcpus}`);
  note?.("IO thread", ioThread, "every guest has one");
  return perVcpu * vcpus + ioThread;
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

function devices(
  spec: VirtualMachineInstanceSpec,
  architecture: string,
  note: Note | undefined,
): number {
  let bytes = 0;
  if (spec.domain.devices.autoattachGraphicsDevice !== false) {
    bytes += videoMemory;
    note?.("video", videoMemory, "spec.domain.devices.autoattachGraphicsDevice is not false");
  }
  if (architecture === "arm64") {
    bytes += arm64Flash;
    note?.("firmware", arm64Flash, "arm64 has two flash chips of 64Mi");
  }
  if (hasVfioDevices(spec)) {
    bytes += vfioSpace;
    note?.("VFIO", vfioSpace, "MMIO space of host devices is locked with the guest's memory");
  }
  if (spec.volumes?.some(({ downwardMetrics }) => downwardMetrics)) {
    bytes += metricsDisk;
    note?.("downward metrics", metricsDisk, "spec.volumes has a disk of metrics, kept in memory");
  }
  return bytes;
}

function probes(
  { livenessProbe, readinessProbe }: VirtualMachineInstanceSpec,
  note: Note | undefined,
): number {
  let bytes = 0;
  if (livenessProbe?.exec) {
    bytes += perProbe;
    note?.("liveness probe", perProbe, "spec.livenessProbe.exec");
  }
  if (readinessProbe?.exec) {
    bytes += perProbe;
    note?.("readiness probe", perProbe, "spec.readinessProbe.exec");
  }
  if (bytes === 0) return 0;
  note?.("probe program", probeProgram, "commands in the guest are started by a program beside it");
  return bytes + probeProgram;
}

function confidentiality(spec: VirtualMachineInstanceSpec, note: Note | undefined): number {
  let bytes = 0;
  if (wantsSev(spec)) {
    bytes += sevBuffers;
    note?.("SEV", sevBuffers, "spec.domain.launchSecurity");
  }
  if (hasTpm(spec)) {
    bytes += tpmEmulator;
    note?.("TPM", tpmEmulator, "spec.domain.devices.tpm: its emulator is a process");
  }
  if (hasDedicatedCpus(spec) || wantsGuaranteedQos(spec)) {
    bytes += guaranteedMargin;
    note?.("margin", guaranteedMargin, "requests equal limits: nothing more can be borrowed");
  }
  return bytes;
}

/** Multiplied by the cluster's ratio, in floating point, to whole kilobytes. */
function scaled(total: Quantity, config: ClusterConfig, note: Note | undefined): Quantity {
  const ratio = readDecimal(config.additionalGuestMemoryOverheadRatio);
  if (ratio === undefined) return total;
  const kilobytes = Math.trunc(Number(total.scaledValue(kilo)) * (ratio - 1));
  const extra = newScaledQuantity(kilobytes, kilo);
  note?.("ratio", extra, `configuration.additionalGuestMemoryOverheadRatio is ${ratio}`);
  return total.add(extra);
}

/** What network bindings need; the ratio does not apply to it. */
function networks(
  { domain }: VirtualMachineInstanceSpec,
  { networkBindings: plugins }: ClusterConfig,
  note: Note | undefined,
): Quantity {
  let total = newQuantity(0, "DecimalSI");
  const interfaces = domain.devices.interfaces ?? [];
  if (interfaces.some(({ passtBinding }) => passtBinding)) {
    total = total.add(passtForwarding);
    note?.("passt", passtForwarding, "an interface with passtBinding forwards all ports");
  }
  const counted: string[] = [];
  for (const { binding } of interfaces) {
    if (!binding || counted.includes(binding.name)) continue;
    counted.push(binding.name);
    const plugin = Object.hasOwn(plugins, binding.name) ? plugins[binding.name] : undefined;
    const memory = plugin?.computeResourceOverhead?.requests?.["memory"] ?? undefined;
    if (memory === undefined) continue;
    const path = `configuration.network.binding.${binding.name}.computeResourceOverhead`;
    const amount = readAmount(memory, path);
    note?.(`plugin ${binding.name}`, amount, path);
    total = total.add(amount);
  }
  return total;
}
