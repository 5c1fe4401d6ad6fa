import type { VirtualMachineInstance, VolumeStatus } from "@virtkit/api/schema";
import type { DomainStatus } from "@virtkit/domain-manager";

/** Phases in which a hotplugged volume can become mounted, or unmounted. */
const mayBeMounted = ["Pending", "Bound", "AttachedToNode"];
const mayBeUnmounted = ["AttachedToNode", "MountedToPod", "Ready"];

/**
 * `status.volumeStatus` of a VMI, by name: each volume with the device that the guest sees, and the progress of a
 * hotplugged one. The controller decides which volumes there are.
 */
export function volumeStatuses(
  { spec, status }: VirtualMachineInstance,
  domain: DomainStatus | undefined,
  mounted: readonly string[] | undefined,
): readonly VolumeStatus[] | undefined {
  const targets = new Map(domain?.disks.map(({ volume, target }) => [volume, target]));
  const wanted = new Set(spec.volumes?.map(({ name }) => name));
  return status?.volumeStatus
    ?.map((before) => {
      const volume = { ...before, target: targets.get(before.name) ?? "" };
      if (!before.hotplugVolume) return volume;
      return hotplugged(volume, wanted.has(before.name), mounted?.includes(before.name));
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function hotplugged(
  volume: VolumeStatus,
  isWanted: boolean,
  isMounted: boolean | undefined,
): VolumeStatus {
  const { phase = "", target } = volume;
  if (target !== "") return inPhase(volume, "Ready", "VolumeReady");
  if (isWanted && isMounted === true && mayBeMounted.includes(phase)) {
    return inPhase(volume, "MountedToPod", "VolumeMountedToPod");
  }
  if (!isWanted && isMounted === false && mayBeUnmounted.includes(phase)) {
    return inPhase(volume, "UnMountedFromPod", "VolumeUnMountedFromPod");
  }
  return volume;
}

function inPhase(
  volume: VolumeStatus,
  phase: NonNullable<VolumeStatus["phase"]>,
  reason: string,
): VolumeStatus {
  return { ...volume, phase, reason };
}
