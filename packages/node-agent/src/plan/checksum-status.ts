import type { VirtualMachineInstance, VirtualMachineInstanceStatus } from "@virtkit/api/schema";
import type { NodePass, StepFailure } from "./node-pass.ts";
import type { Checksums } from "./node-step.ts";

/**
 * A status with the checksums of container images, which older nodes want to see before they take over a guest. Not
 * for image volumes, which the container runtime checks.
 */
export function withChecksums(
  pass: NodePass,
  vmi: VirtualMachineInstance,
  status: VirtualMachineInstanceStatus,
  failure: StepFailure | undefined,
): VirtualMachineInstanceStatus {
  const isNeeded = isIncomplete(vmi, status) && !pass.view.config.gate("ImageVolume");
  if (failure || vmi.metadata?.deletionTimestamp || !isNeeded) return status;
  const { checksums } = pass.attempt({ do: "checksums" });
  return checksums ? joined(vmi, status, checksums) : status;
}

function isIncomplete(
  { spec }: VirtualMachineInstance,
  { volumeStatus = [], kernelBootStatus }: VirtualMachineInstanceStatus,
): boolean {
  const disks = new Set((spec.volumes ?? []).flatMap((v) => (v.containerDisk ? [v.name] : [])));
  const lacksDisk = volumeStatus.some(
    ({ name, containerDiskVolume }) => disks.has(name) && !containerDiskVolume?.checksum,
  );
  const { container } = spec.domain.firmware?.kernelBoot ?? {};
  if (lacksDisk || !container) return lacksDisk;
  const { kernelInfo, initrdInfo } = kernelBootStatus ?? {};
  return (
    !kernelBootStatus ||
    Boolean(container.kernelPath && !kernelInfo?.checksum) ||
    Boolean(container.initrdPath && !initrdInfo?.checksum)
  );
}

function joined(
  { spec }: VirtualMachineInstance,
  status: VirtualMachineInstanceStatus,
  { disks = {}, kernel, initrd }: Checksums,
): VirtualMachineInstanceStatus {
  const volumeStatus = status.volumeStatus?.map((volume) => {
    const checksum = disks[volume.name];
    return checksum === undefined ? volume : { ...volume, containerDiskVolume: { checksum } };
  });
  const kernelBootStatus = spec.domain.firmware?.kernelBoot?.container && {
    ...(kernel === undefined ? {} : { kernelInfo: { checksum: kernel } }),
    ...(initrd === undefined ? {} : { initrdInfo: { checksum: initrd } }),
  };
  return {
    ...status,
    ...(volumeStatus ? { volumeStatus } : {}),
    ...(kernelBootStatus ? { kernelBootStatus } : {}),
  };
}
