import type { Names } from "@virtkit/api/names";
import type {
  ChangedBlockTrackingStatus,
  CPU,
  VirtualMachineInstance,
  VirtualMachineInstanceSpec,
} from "@virtkit/api/schema";

/** Whether the guest runs as the unprivileged user: the default that admission writes. */
export function isNonRoot(vmi: VirtualMachineInstance, { annotations }: Names): boolean {
  return (
    Boolean(vmi.status?.runtimeUser) ||
    vmi.metadata?.annotations?.[annotations.nonRoot] !== undefined
  );
}

/** Whether each vCPU gets a dedicated host CPU. */
export function hasDedicatedCpus(spec: VirtualMachineInstanceSpec): boolean {
  return spec.domain.cpu?.dedicatedCpuPlacement === true;
}

/**
 * The product of the given cores, sockets and threads; 0 if none is given. Sockets that are only reserved for
 * hotplug do not count.
 */
export function vcpuCount(cpu: CPU): number {
  let count = cpu.cores ?? 0;
  for (const factor of [cpu.sockets, cpu.threads]) {
    if (factor) count = count === 0 ? factor : count * factor;
  }
  return count;
}

/** Threads of the supplemental I/O thread pool, which need CPUs in addition to the vCPUs. */
export function supplementalIoThreads(spec: VirtualMachineInstanceSpec): number {
  return spec.domain.ioThreads?.supplementalPoolThreadCount ?? 0;
}

/** Whether host devices are assigned to the guest, so that its memory must be locked. */
export function hasVfioDevices({ domain }: VirtualMachineInstanceSpec): boolean {
  const { hostDevices, gpus, interfaces } = domain.devices;
  if (hostDevices?.length || gpus?.length) return true;
  return interfaces?.some(({ sriov }) => sriov) ?? false;
}

/** AMD memory encryption of any kind; SNP counts as SEV because it uses the same device. */
export function wantsSev({ domain }: VirtualMachineInstanceSpec): boolean {
  return Boolean(domain.launchSecurity?.sev || domain.launchSecurity?.snp);
}

/** AMD SEV-ES: the registers are encrypted, too. */
export function wantsSevEs({ domain }: VirtualMachineInstanceSpec): boolean {
  return domain.launchSecurity?.sev?.policy?.encryptedState === true;
}

/** AMD SEV-SNP. */
export function wantsSevSnp({ domain }: VirtualMachineInstanceSpec): boolean {
  return Boolean(domain.launchSecurity?.snp);
}

/** Intel TDX. */
export function wantsTdx({ domain }: VirtualMachineInstanceSpec): boolean {
  return Boolean(domain.launchSecurity?.tdx);
}

/** IBM Secure Execution: on s390x, launch security always means that. */
export function wantsSecureExecution(spec: VirtualMachineInstanceSpec): boolean {
  return spec.architecture === "s390x" && Boolean(spec.domain.launchSecurity);
}

/** A TPM exists unless it is disabled explicitly. */
export function hasTpm({ domain }: VirtualMachineInstanceSpec): boolean {
  const { tpm } = domain.devices;
  return Boolean(tpm) && tpm?.enabled !== false;
}

/** A TPM whose state outlives the guest. */
export function hasPersistentTpm(spec: VirtualMachineInstanceSpec): boolean {
  return hasTpm(spec) && spec.domain.devices.tpm?.persistent === true;
}

/** Firmware variables that outlive the guest. */
export function hasPersistentEfi({ domain }: VirtualMachineInstanceSpec): boolean {
  return domain.firmware?.bootloader?.efi?.persistent === true;
}

/** Whether bitmaps of changed blocks are kept, or will be. */
export function tracksChangedBlocks(status: ChangedBlockTrackingStatus | undefined): boolean {
  return status?.state === "Initializing" || status?.state === "Enabled";
}

/** Whether the guest has state that must outlive its Pod, and so needs its own claim. */
export function needsStateClaim({ spec, status }: VirtualMachineInstance): boolean {
  return (
    hasPersistentTpm(spec) ||
    hasPersistentEfi(spec) ||
    tracksChangedBlocks(status?.changedBlockTracking)
  );
}

/** A disk with SCSI reservations needs the node's reservation helper. */
export function usesReservations({ domain }: VirtualMachineInstanceSpec): boolean {
  return domain.devices.disks?.some(({ lun }) => lun?.reservation === true) ?? false;
}

/** Whether directories are shared with the guest. */
export function hasVirtiofs({ domain }: VirtualMachineInstanceSpec): boolean {
  return domain.devices.filesystems?.some(({ virtiofs }) => virtiofs) ?? false;
}
