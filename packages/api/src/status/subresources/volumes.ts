import { type Names, names } from "../../names/index.ts";
import type { PatchOperation } from "../../network/vm-network-sync.ts";
import type {
  AddVolumeOptions,
  RemoveVolumeOptions,
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineVolumeRequest,
  Volume,
} from "../../schema/index.ts";
import { quote } from "../../schema/issue.ts";
import { at, isSet, object, objects, text } from "../../shape.ts";
import { isRunning, phaseOf } from "../phases.ts";
import type { Write } from "../plan.ts";
import { isHotpluggable } from "../restart-required.ts";
import { volumeRequestsOf } from "../volume-requests.ts";
import {
  accepted,
  badRequest,
  conflict,
  type Refusal,
  type SubresourceOutcome,
  type SubresourceOwner,
} from "./outcome.ts";
import { dryRun, nameOf } from "./state-change.ts";

/** The gates that decide in which of three ways volumes are added and removed. */
export interface VolumeGates {
  /** Gate `HotplugVolumes`: requests are queued in the VM's status. */
  readonly hotplug: boolean;
  /** Gate `DeclarativeHotplugVolumes`: the VM's template is changed. */
  readonly declarative: boolean;
}

/** A request to add or to remove one volume. */
export type VolumeRequest =
  | { readonly add: AddVolumeOptions }
  | { readonly remove: RemoveVolumeOptions };

/** `addvolume` and `removevolume` of a VM: queued in its status, or written into its template. */
export function planVmVolume(
  vm: VirtualMachine,
  request: VolumeRequest,
  gates: VolumeGates,
): SubresourceOutcome {
  const volumes = objects<Volume>(at(vm, "spec", "template", "spec", "volumes"));
  const fault =
    volumeRequestFault(request, gates) ?? volumeFault(vm, "virtualmachine", volumes, request);
  if (fault) return fault;
  if (!gates.hotplug) {
    return accepted([edit(vm, "virtualmachines", ["spec", "template", "spec"], request)]);
  }
  const queued = queueVolume(vm, request);
  return queued.kind === "refused" ? queued : accepted([queued]);
}

/** The same for a VMI, which must run and, unless requests are queued, must not belong to a VM. */
export function planVmiVolume(
  vmi: VirtualMachineInstance,
  request: VolumeRequest,
  gates: VolumeGates,
  { group }: Pick<Names, "group"> = names(),
): SubresourceOutcome {
  const owner = "virtualmachineinstance";
  const fault = volumeRequestFault(request, gates);
  if (fault) return fault;
  if (isOwnedByVm(vmi, group) && !gates.hotplug) {
    return badRequest(`VMI ${nameOf(vmi)} belongs to a VM; change the volumes of the VM`);
  }
  if (!isRunning(vmi)) {
    const why = `its phase is ${quote(phaseOf(vmi))}; it must be Running`;
    return conflict(owner, nameOf(vmi), why);
  }
  const volumes = objects<Volume>(at(vmi, "spec", "volumes"));
  return (
    volumeFault(vmi, owner, volumes, request) ??
    accepted([edit(vmi, "virtualmachineinstances", ["spec"], request)])
  );
}

/** What is wrong with a request itself, whatever its object. */
export function volumeRequestFault(
  request: VolumeRequest,
  gates: VolumeGates,
): Refusal | undefined {
  if (!gates.hotplug && !gates.declarative) {
    return badRequest(
      "adding and removing volumes needs the feature gate DeclarativeHotplugVolumes or HotplugVolumes",
    );
  }
  if (!volumeName(request)) return badRequest("name is missing; name the volume");
  if ("remove" in request) return undefined;
  if (!isSet(at(request.add, "disk")))
    return badRequest("disk is missing; describe how the guest sees the volume");
  return isSet(at(request.add, "volumeSource"))
    ? undefined
    : badRequest("volumeSource is missing; name a DataVolume or a PersistentVolumeClaim");
}

function volumeFault(
  target: unknown,
  owner: SubresourceOwner,
  volumes: readonly Volume[],
  request: VolumeRequest,
): Refusal | undefined {
  const name = volumeName(request);
  const refuse = (why: string): Refusal => conflict(owner, nameOf(target), why);
  if ("add" in request) {
    const source = sourceName(request.add.volumeSource);
    if (volumes.some((volume) => volume.name === name)) {
      return refuse(`volume "${name}" already exists`);
    }
    return volumes.some((volume) => sourceName(volume) === source && source !== "")
      ? refuse(`"${source}" is already in use by a volume`)
      : undefined;
  }
  const found = volumes.find((volume) => volume.name === name || sourceName(volume) === name);
  if (!found) return refuse(`volume "${name}" does not exist`);
  return isHotpluggable(found) ? undefined : refuse(`volume "${name}" is not hotpluggable`);
}

function queueVolume(vm: VirtualMachine, request: VolumeRequest): Write | Refusal {
  const name = volumeName(request);
  const waiting = volumeRequestsOf(vm);
  const adds = (item: VirtualMachineVolumeRequest): boolean =>
    at(item, "addVolumeOptions", "name") === name;
  const removes = (item: VirtualMachineVolumeRequest): boolean =>
    at(item, "removeVolumeOptions", "name") === name;
  const isWaiting = "add" in request ? waiting.some(adds) : false;
  if (isWaiting || waiting.some(removes)) {
    const why = `a request for volume "${name}" is still being processed`;
    return conflict("virtualmachine", nameOf(vm), why);
  }
  const entry: VirtualMachineVolumeRequest =
    "add" in request
      ? { addVolumeOptions: withoutEmptyDryRun(hotpluggable(request.add)) }
      : { removeVolumeOptions: withoutEmptyDryRun(request.remove) };
  const path = "/status/volumeRequests";
  const kept = "add" in request ? waiting : waiting.filter((item) => !adds(item));
  return {
    kind: "patch",
    resource: "virtualmachines",
    subresource: "status",
    name: nameOf(vm),
    patch: [
      { op: "test", path, value: at(vm, "status", "volumeRequests") ?? null },
      { op: waiting.length > 0 ? "replace" : "add", path, value: [...kept, entry] },
    ],
    ...dryRun(optionsOf(request)),
  };
}

function edit(
  target: unknown,
  resource: "virtualmachines" | "virtualmachineinstances",
  specPath: readonly string[],
  request: VolumeRequest,
): Write {
  const spec = at(target, ...specPath);
  const name = volumeName(request);
  const list = (path: readonly string[], added: unknown): PatchOperation[] => {
    const found = at(spec, ...path);
    const present = objects(found);
    const next =
      added === undefined ? present.filter((item) => item["name"] !== name) : [...present, added];
    const pointer = `/${[...specPath, ...path].join("/")}`;
    return [
      { op: "test", path: pointer, value: found ?? null },
      { op: present.length > 0 ? "replace" : "add", path: pointer, value: next },
    ];
  };
  const add = "add" in request ? hotpluggable(request.add) : undefined;
  const [testVolumes, setVolumes] = list(["volumes"], add && { name, ...add.volumeSource });
  const [testDisks, setDisks] = list(["domain", "devices", "disks"], add && { ...add.disk, name });
  return {
    kind: "patch",
    resource,
    name: nameOf(target),
    patch: [testVolumes, testDisks, setVolumes, setDisks].flatMap((operation) => operation ?? []),
    ...dryRun(optionsOf(request)),
  };
}

/** An empty list means the same as none, and is not kept in the status. */
function withoutEmptyDryRun<Options extends AddVolumeOptions | RemoveVolumeOptions>(
  options: Options,
): Options {
  if (options.dryRun?.length !== 0) return options;
  const { dryRun: _, ...rest } = options;
  return rest as Options;
}

/** The options with the source marked as hotpluggable, and the disk named like the volume. */
function hotpluggable(options: AddVolumeOptions): AddVolumeOptions {
  const source = object(options.volumeSource);
  const kind = ["dataVolume", "persistentVolumeClaim"].find((name) => isSet(source[name]));
  const marked = kind && { [kind]: { ...object(source[kind]), hotpluggable: true } };
  return {
    ...options,
    disk: { ...object(options.disk), name: options.name } as AddVolumeOptions["disk"],
    volumeSource: { ...source, ...marked },
  };
}

function volumeName(request: VolumeRequest): string {
  return text(at(optionsOf(request), "name"));
}

function optionsOf(request: VolumeRequest): AddVolumeOptions | RemoveVolumeOptions {
  return "add" in request ? request.add : request.remove;
}

function sourceName(source: unknown): string {
  return (
    text(at(source, "dataVolume", "name")) || text(at(source, "persistentVolumeClaim", "claimName"))
  );
}

function isOwnedByVm(vmi: VirtualMachineInstance, group: string): boolean {
  const apiVersion = text(at(vmi, "apiVersion")) || `${group}/v1`;
  return objects(at(vmi, "metadata", "ownerReferences")).some(
    (reference) =>
      reference["controller"] === true &&
      reference["kind"] === "VirtualMachine" &&
      reference["apiVersion"] === apiVersion,
  );
}
