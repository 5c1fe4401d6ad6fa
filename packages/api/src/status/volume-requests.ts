import type { VirtualMachine, VirtualMachineVolumeRequest } from "../schema/index.ts";
import { at, isSet, objects, text } from "../shape.ts";
import { volumesOf } from "./vm-storage.ts";

/** Volumes that `addvolume` and `removevolume` requested and the template does not show yet. */
export function openVolumeRequests(vm: VirtualMachine): readonly VirtualMachineVolumeRequest[] {
  const volumes = new Set(volumesOf(vm).map(({ name }) => name));
  const disks = new Set(
    objects(at(vm, "spec", "template", "spec", "domain", "devices", "disks")).map(
      ({ name }) => name,
    ),
  );
  return volumeRequestsOf(vm).filter((request) => {
    const isAdded = isSet(request.addVolumeOptions);
    const name = text(at(request, isAdded ? "addVolumeOptions" : "removeVolumeOptions", "name"));
    const isDone = isAdded
      ? volumes.has(name) && disks.has(name)
      : !volumes.has(name) && !disks.has(name);
    return !isDone;
  });
}

/** Every request in a VM's status. */
export function volumeRequestsOf(vm: VirtualMachine): readonly VirtualMachineVolumeRequest[] {
  return objects<VirtualMachineVolumeRequest>(at(vm, "status", "volumeRequests"));
}
