import type { ClusterConfig } from "@virtkit/api/config";
import { type Quantity, readQuantity } from "@virtkit/api/quantity";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { memlockLimit } from "@virtkit/host-primitives/process";
import { memoryOverhead } from "@virtkit/launcher-pod";

/**
 * Bytes that the processes of a guest must be able to lock: where devices of the host are passed
 * through, in real time, with encrypted memory, or where the VMI asks for it. Undefined elsewhere.
 */
export function lockedMemory(
  vmi: VirtualMachineInstance,
  config: ClusterConfig,
): bigint | undefined {
  const { cpu, memory, launchSecurity } = vmi.spec.domain;
  const vfioDevices = countVfioDevices(vmi);
  const locks =
    vfioDevices > 0 ||
    cpu?.realtime ||
    launchSecurity?.sev ||
    launchSecurity?.snp ||
    memory?.reservedOverhead?.memLock === "Required";
  if (!locks) return undefined;
  const told = bytes(vmi.status?.migrationState?.targetMemoryOverhead);
  const overheadBytes = told ?? memoryOverhead(vmi, config).total.value();
  return memlockLimit({ overheadBytes, guestBytes: largestMemory(vmi), vfioDevices });
}

function countVfioDevices({ spec }: VirtualMachineInstance): number {
  const { gpus = [], hostDevices = [], interfaces = [] } = spec.domain.devices;
  const sriov = (interfaces ?? []).filter((iface) => iface.sriov);
  return (gpus ?? []).length + (hostDevices ?? []).length + sriov.length;
}

/** The most that the guest can be plugged to, else what it asks for, else what it sees. */
function largestMemory({ spec }: VirtualMachineInstance): bigint {
  const { memory, resources } = spec.domain;
  const requested = bytes(resources?.requests?.["memory"]);
  return bytes(memory?.maxGuest) ?? (requested || (bytes(memory?.guest) ?? 0n));
}

function bytes(quantity: unknown): bigint | undefined {
  if (quantity === undefined || quantity === null) return undefined;
  const parsed: Quantity | string = readQuantity(String(quantity));
  return typeof parsed === "string" ? undefined : parsed.value();
}
