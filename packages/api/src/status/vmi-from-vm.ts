import type { ClusterConfig } from "../config/index.ts";
import {
  applyInstancetype,
  autoattachPreferences,
  matcherAnnotations,
} from "../instancetype/index.ts";
import type { Names } from "../names/index.ts";
import { type DefaultNetworkConfig, defaultNetwork } from "../network/default-network.ts";
import type {
  Disk,
  Input,
  Interface,
  ObjectMeta,
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineInstanceSpec,
  VirtualMachineInstancetypeSpec,
  VirtualMachinePreferenceSpec,
  Volume,
} from "../schema/index.ts";
import { quote } from "../schema/issue.ts";
import { at, isSet, number, object, objects, text } from "../shape.ts";
import { type TrackingView, trackingOfNewVmi } from "./changed-block-tracking.ts";
import { legacyFirmwareUuid } from "./legacy-firmware-uuid.ts";
import { isMemoryDumpOver, memoryDumpRequestOf } from "./memory-dump-request.ts";
import { controlledBy } from "./owner-reference.ts";
import { hasStartPausedRequest } from "./state-change-requests.ts";

/** What a new VMI depends on besides the VM. */
export interface NewVmiView extends TrackingView {
  readonly config: TrackingView["config"] & DefaultNetworkConfig & Pick<ClusterConfig, "names">;
  /** What the VM's matchers refer to. */
  readonly instancetype?: VirtualMachineInstancetypeSpec | undefined;
  readonly preference?: VirtualMachinePreferenceSpec | undefined;
}

/** The VMI, or why there is none. */
export type NewVmi =
  | { readonly vmi: VirtualMachineInstance }
  | { readonly refused: string; readonly by: "network" | "instancetype" };

type Draft = VirtualMachineInstanceSpec;

/**
 * The VMI that starts a VM: the template, with what a VM adds (owner, finalizer, generation, stable
 * firmware UUID, a disk for each volume, the default network), and with its instance type and preference.
 */
export function vmiFromVm(vm: VirtualMachine, revisionName: string, view: NewVmiView): NewVmi {
  const { instancetype, preference, config } = view;
  const own = [paused, withoutDump, withUuid, withDisks].reduce<Draft>(
    (spec, change) => change(spec, vm),
    object(at(vm, "spec", "template", "spec")) as unknown as Draft,
  );
  // A preference first decides which devices exist, and at the end their kind.
  const draft = withInput(autoattachPreferences(own, preference));
  const added = defaultNetwork(draft, config);
  if (added.kind === "refused") return { refused: added.message, by: "network" };
  const given = added.kind === "add" ? withNetwork(draft, added) : draft;
  const metadata = metadataOf(vm, config.names);
  const isTyped = instancetype !== undefined || preference !== undefined;
  const annotations = isTyped
    ? { ...metadata.annotations, ...matcherAnnotations(vm, config) }
    : metadata.annotations;
  const path = ["spec"];
  const applied = applyInstancetype({ spec: given, annotations, instancetype, preference, path });
  if (applied.kind !== "applied") {
    const faults = applied.kind === "conflicts" ? applied.conflicts : [applied.problem];
    return { refused: faults.map(({ message }) => message).join("; "), by: "instancetype" };
  }
  const { spec } = applied;
  const gone = discontinuedBinding(spec);
  if (gone) return { refused: gone, by: "network" };
  const state = trackingOfNewVmi(vm, view);
  return {
    vmi: {
      apiVersion: `${view.config.names.groups.core}/v1`,
      kind: "VirtualMachineInstance",
      metadata: applied.annotations ? { ...metadata, annotations: applied.annotations } : metadata,
      spec,
      status: {
        virtualMachineRevisionName: revisionName,
        ...(state === undefined ? {} : { changedBlockTracking: { state } }),
      },
    },
  };
}

/** A binding that KubeVirt has removed: a VMI with one would be refused. */
function discontinuedBinding(spec: Draft): string | undefined {
  for (const iface of objects<Interface>(at(spec, "domain", "devices", "interfaces"))) {
    for (const binding of ["slirp", "passt", "macvtap"]) {
      if (isSet(at(iface, binding))) {
        return `interface ${quote(text(iface.name))} has the binding ${binding}, which KubeVirt v1.3 removed; use another`;
      }
    }
  }
  return undefined;
}

function metadataOf(vm: VirtualMachine, names: Names): ObjectMeta {
  const template = object(at(vm, "spec", "template", "metadata")) as ObjectMeta;
  const { generateName: _, ...rest } = template;
  const isReceiver = at(vm, "spec", "runStrategy") === "WaitAsReceiver";
  const namespace = text(at(vm, "metadata", "namespace"));
  return {
    ...rest,
    name: text(at(vm, "metadata", "name")),
    ...(namespace ? { namespace } : {}),
    annotations: {
      ...(object(template.annotations) as Record<string, string>),
      [names.annotations.vmGeneration]: String(number(at(vm, "metadata", "generation"))),
      ...(isReceiver ? { [names.annotations.createMigrationTarget]: "true" } : {}),
    },
    ownerReferences: [controlledBy(vm, names)],
    finalizers: [
      ...(Array.isArray(template.finalizers) ? template.finalizers : []),
      names.finalizers.vm,
    ],
  };
}

function paused(spec: Draft, vm: VirtualMachine): Draft {
  return hasStartPausedRequest(vm) ? { ...spec, startStrategy: "Paused" } : spec;
}

function withoutDump(spec: Draft, vm: VirtualMachine): Draft {
  if (!isMemoryDumpOver(vm)) return spec;
  const name = text(memoryDumpRequestOf(vm)?.claimName);
  return { ...spec, volumes: volumes(spec).filter((volume) => volume.name !== name) };
}

function withUuid(spec: Draft, vm: VirtualMachine): Draft {
  const firmware = object(at(spec, "domain", "firmware"));
  if (text(firmware["uuid"])) return spec;
  const uuid = legacyFirmwareUuid(text(at(vm, "metadata", "name")));
  return { ...spec, domain: { ...domain(spec), firmware: { ...firmware, uuid } } };
}

/** A volume that neither a disk nor a file system uses becomes a disk. */
function withDisks(spec: Draft): Draft {
  const disks = objects<Disk>(at(spec, "domain", "devices", "disks"));
  const filesystems = objects<{ name?: string }>(at(spec, "domain", "devices", "filesystems"));
  const used = new Set([...disks, ...filesystems].map(({ name }) => text(name)));
  const added = volumes(spec).filter(({ name }) => !used.has(text(name)));
  if (added.length === 0) return spec;
  return withDevices(spec, {
    disks: [...disks, ...added.map(({ name }) => ({ name: text(name) }))],
  });
}

/** Bus and type come later: from a preference, or from the defaults of the architecture. */
function withInput(spec: Draft): Draft {
  const inputs = objects<Input>(at(spec, "domain", "devices", "inputs"));
  const wanted = at(spec, "domain", "devices", "autoattachInputDevice") === true;
  if (!wanted || inputs.length > 0) return spec;
  return withDevices(spec, { inputs: [{ name: "default-0", type: "" }] });
}

function withNetwork(
  spec: Draft,
  { interfaces, networks }: Pick<Required<Draft>, "networks"> & Pick<Devices, "interfaces">,
): Draft {
  const network = { ...spec, networks };
  return interfaces && interfaces.length > 0 ? withDevices(network, { interfaces }) : network;
}

type Devices = Draft["domain"]["devices"];

function withDevices(spec: Draft, devices: Partial<Devices>): Draft {
  const present = object(at(spec, "domain", "devices")) as Devices;
  return { ...spec, domain: { ...domain(spec), devices: { ...present, ...devices } } };
}

function domain(spec: Draft): Draft["domain"] {
  return object(at(spec, "domain")) as unknown as Draft["domain"];
}

function volumes(spec: Draft): Volume[] {
  return [...objects<Volume>(at(spec, "volumes"))];
}
