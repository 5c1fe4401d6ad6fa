import type { ClusterConfig } from "@virtkit/api/config";
import { newQuantity, type Quantity, quantityFrom } from "@virtkit/api/quantity";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { memlockLimit } from "@virtkit/host-primitives/process";
import { type LauncherProfile, memoryOverhead } from "@virtkit/launcher-pod";

/**
 * Bytes that the processes of a guest must be able to lock: if host devices are passed through, in real time, with
 * encrypted memory, or if the VMI asks for it. Otherwise undefined.
 */
export function lockedMemory(
  vmi: VirtualMachineInstance,
  config: ClusterConfig,
): bigint | undefined {
  const { cpu, memory, launchSecurity } = vmi.spec.domain;
  const locks =
    countVfioDevices(vmi) > 0 ||
    cpu?.realtime ||
    launchSecurity?.sev ||
    launchSecurity?.snp ||
    memory?.reservedOverhead?.memLock === "Required";
  return locks ? memlockSize(vmi, config).value() : undefined;
}

/** How much a guest that locks its memory locks: what it can have, and what its launcher needs in addition. */
export function memlockSize(
  vmi: VirtualMachineInstance,
  config: ClusterConfig,
  profile?: LauncherProfile,
): Quantity {
  const overhead = overheadOf(vmi, config, profile);
  const bytes = memlockLimit({
    overheadBytes: overhead.value(),
    guestBytes: largestMemory(vmi).value(),
    vfioDevices: countVfioDevices(vmi),
  });
  return newQuantity(bytes, overhead.isZero() ? "DecimalSI" : overhead.format);
}

/**
 * What the source reported about the target's Pod, or else what the launcher needs without network bindings, which
 * lock nothing.
 */
function overheadOf(
  vmi: VirtualMachineInstance,
  config: ClusterConfig,
  profile: LauncherProfile | undefined,
): Quantity {
  const told = vmi.status?.migrationState?.targetMemoryOverhead;
  if (told !== undefined && told !== null) return quantityFrom(told);
  const { domain } = vmi.spec;
  const interfaces = (domain.devices?.interfaces ?? []).map(({ name, sriov }) => ({
    name,
    ...(sriov && { sriov }),
  }));
  const devices = { ...domain.devices, interfaces };
  const unbound = { ...vmi, spec: { ...vmi.spec, domain: { ...domain, devices } } };
  return memoryOverhead(unbound, config, profile).total;
}

function countVfioDevices({ spec }: VirtualMachineInstance): number {
  const { gpus, hostDevices, interfaces } = spec.domain.devices;
  const sriov = (interfaces ?? []).filter((iface) => iface.sriov);
  return (gpus ?? []).length + (hostDevices ?? []).length + sriov.length;
}

/** The maximum that the guest can be plugged to, else what it requests, else what it sees. */
function largestMemory({ spec }: VirtualMachineInstance): Quantity {
  const { memory, resources } = spec.domain;
  if (memory?.maxGuest) return quantityFrom(memory.maxGuest);
  const requested = quantityFrom(resources?.requests?.["memory"] ?? 0);
  return requested.isZero() ? quantityFrom(memory?.guest ?? 0) : requested;
}
