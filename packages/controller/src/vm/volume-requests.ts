import type {
  Disk,
  VirtualMachine,
  VirtualMachineVolumeRequest,
  Volume,
} from "@virtkit/api/schema";
import { at, isObject, isSet, objects, text } from "@virtkit/api/shape";
import { volumeRequestsOf, volumesOf } from "@virtkit/api/status/vm";
import { nameOf } from "../plan/object-name.ts";
import { isDeleting } from "../plan/ownership.ts";
import type { Refusal } from "../plan/write-outcome.ts";
import { withTemplate } from "./template-change.ts";
import { failed, type Stop, type VmPass } from "./vm-pass.ts";

/**
 * Adds volumes that `addvolume` requested to the template, and removes those that `removevolume`
 * named. Where declared volumes are not copied to the VMI (`plugDeclaredVolumes`), the same is
 * requested of the VMI.
 */
export function followVolumeRequests(pass: VmPass): Stop | undefined {
  const isDeclared = declaresVolumes(pass);
  const plugged = new Set(objects<Volume>(at(pass.vmi, "spec", "volumes")).map(({ name }) => name));
  for (const request of volumeRequestsOf(pass.vm)) {
    pass.vm = applied(pass.vm, request);
    if (isDeclared || !pass.vmi || isDeleting(pass.vmi)) continue;
    const refusal = ask(pass, request, plugged);
    if (!refusal) continue;
    const message = `a volume could not be attached or detached: ${refusal.message}`;
    return failed("HotPlugVolumeError", message);
  }
  return undefined;
}

/** Whether a running VMI gets the volumes that its VM's template declares. */
export function declaresVolumes({ config }: VmPass): boolean {
  return !config.gate("HotplugVolumes") && config.gate("DeclarativeHotplugVolumes");
}

function applied(vm: VirtualMachine, request: VirtualMachineVolumeRequest): VirtualMachine {
  const disks = objects<Disk>(at(vm, "spec", "template", "spec", "domain", "devices", "disks"));
  const volumes = volumesOf(vm);
  const { addVolumeOptions: add, removeVolumeOptions: remove } = request;
  const disksPath = ["domain", "devices", "disks"];
  if (isSet(add)) {
    const name = text(at(add, "name"));
    if (volumes.some((volume) => volume.name === name)) return vm;
    const added = withTemplate(vm, ["volumes"], [...volumes, volumeOf(name, add)]);
    const disk = at(add, "disk");
    return isObject(disk) ? withTemplate(added, disksPath, [...disks, { ...disk, name }]) : added;
  }
  if (!isSet(remove)) return vm;
  const stays = (item: { readonly name?: string }): boolean => item.name !== at(remove, "name");
  const without = withTemplate(vm, ["volumes"], volumes.filter(stays));
  return disks.length > 0 ? withTemplate(without, disksPath, disks.filter(stays)) : without;
}

function volumeOf(name: string, options: unknown): Volume {
  for (const kind of ["persistentVolumeClaim", "dataVolume"]) {
    const source = at(options, "volumeSource", kind);
    if (isObject(source)) return { name, [kind]: { ...source, hotpluggable: true } };
  }
  return { name };
}

function ask(
  pass: VmPass,
  request: VirtualMachineVolumeRequest,
  plugged: ReadonlySet<string>,
): Refusal | undefined {
  const { addVolumeOptions: add, removeVolumeOptions: remove } = request;
  const isAdded = isSet(add);
  const body = isAdded ? add : remove;
  if (!isSet(body) || plugged.has(text(at(body, "name"))) === isAdded) return undefined;
  return pass.draft.write({
    kind: "call",
    resource: pass.resources.vmis,
    object: nameOf(pass.vmi),
    subresource: isAdded ? "addvolume" : "removevolume",
    body,
  });
}
