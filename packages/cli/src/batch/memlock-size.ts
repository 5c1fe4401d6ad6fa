import type { ClusterConfig } from "@virtkit/api/config";
import { newQuantity, type Quantity, quantityFrom } from "@virtkit/api/quantity";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { memlockLimit } from "@virtkit/host-primitives/process";
import { kubevirtLauncherProfile, memoryOverhead } from "@virtkit/launcher-pod";
import { guardMachines } from "./guard-machines.ts";
import { objectField } from "./input-fields.ts";
import { nested } from "./request.ts";
import { contextConfig } from "./request-context.ts";

/** Only the memory of its processes counts here. */
const profile = kubevirtLauncherProfile({ image: "launcher" });

/** The memory lock limit of a machine, in bytes and as a quantity that is written as its overhead is. */
export function memlockSize(input: unknown, context: unknown): { bytes: number; quantity: string } {
  const vmi = objectField(input, "vmi") as VirtualMachineInstance;
  return guardMachines({ "input.vmi": vmi }, () => limitOf(vmi, configOf(input, context)));
}

function limitOf(
  vmi: VirtualMachineInstance,
  config: ClusterConfig,
): { bytes: number; quantity: string } {
  const overhead = overheadOf(vmi, config);
  const bytes = memlockLimit({
    overheadBytes: overhead.value(),
    guestBytes: guestMemory(vmi).value(),
    vfioDevices: countVfioDevices(vmi),
  });
  const format = overhead.isZero() ? "DecimalSI" : overhead.format;
  return { bytes: Number(bytes), quantity: newQuantity(bytes, format).toString() };
}

/** The input may bring a configuration of its own. */
function configOf(input: unknown, context: unknown): ClusterConfig {
  const own = nested(input, "config") ?? nested(input, "configuration");
  return contextConfig(own === undefined ? context : { configuration: own });
}

/** What the source told of the target's Pod, or else what a launcher of this machine needs without its network. */
function overheadOf(vmi: VirtualMachineInstance, config: ClusterConfig): Quantity {
  const told = nested(vmi, "status", "migrationState", "targetMemoryOverhead");
  if (told !== undefined) return quantityFrom(told as string | number);
  return memoryOverhead(withoutBindings(vmi), config, profile).total;
}

function withoutBindings(vmi: VirtualMachineInstance): VirtualMachineInstance {
  const { domain } = vmi.spec;
  const interfaces = (domain.devices?.interfaces ?? []).map(({ name, sriov }) => ({
    name,
    ...(sriov && { sriov }),
  }));
  const devices = { ...domain.devices, interfaces };
  return { ...vmi, spec: { ...vmi.spec, domain: { ...domain, devices } } };
}

/** The most that the guest can have, else what is requested for it, else what it has. */
function guestMemory({ spec }: VirtualMachineInstance): Quantity {
  const { memory, resources } = spec.domain;
  const requested = quantityFrom(resources?.requests?.["memory"] ?? 0);
  if (memory?.maxGuest) return quantityFrom(memory.maxGuest);
  return requested.isZero() ? quantityFrom(memory?.guest ?? 0) : requested;
}

function countVfioDevices({ spec }: VirtualMachineInstance): number {
  const { gpus, hostDevices, interfaces } = spec.domain.devices;
  const cards = (interfaces ?? []).filter(({ sriov }) => sriov);
  return (gpus ?? []).length + (hostDevices ?? []).length + cards.length;
}
