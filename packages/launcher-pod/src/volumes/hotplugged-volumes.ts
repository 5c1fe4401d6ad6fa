import type { VirtualMachineInstanceSpec, VirtualMachineInstanceStatus } from "@virtkit/api/schema";

/**
 * Names of the volumes that a hotplug Pod attaches: those whose status says so, and those that are declared
 * hotpluggable before there is a status.
 */
export function hotpluggedVolumes(
  spec: VirtualMachineInstanceSpec,
  status: VirtualMachineInstanceStatus,
): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { name, hotplugVolume } of status.volumeStatus ?? []) {
    if (hotplugVolume) names.add(name);
  }
  for (const { name, dataVolume, persistentVolumeClaim } of spec.volumes ?? []) {
    if (dataVolume?.hotpluggable || persistentVolumeClaim?.hotpluggable) names.add(name);
  }
  return names;
}
