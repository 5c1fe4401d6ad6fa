import type {
  Interface,
  Network,
  VirtualMachine,
  VirtualMachineInstance,
} from "../schema/index.ts";
import { at, isSet, text } from "../shape.ts";
import {
  byName,
  interfaceStatusesOf,
  interfacesOf,
  isAbsent,
  type NetworkSpec,
  networksOf,
  networksUsedBy,
} from "./interfaces.ts";
import { mayHaveOrdinalInterfaces } from "./pod-interface-names.ts";
import { sameJson } from "./same-json.ts";

/** The two lists that belong together. */
export interface Attachments {
  readonly interfaces: readonly Interface[];
  readonly networks: readonly Network[];
}

/** A conditional write: fails if somebody else has changed the value. */
export interface PatchOperation {
  readonly op: "test" | "add" | "replace" | "remove";
  readonly path: string;
  readonly value?: unknown;
}

/** What it takes to synchronise the networks of a VM and its VMI. */
export interface NetworkSyncPlan {
  /** The VM's lists without interfaces that were unplugged and are gone. */
  readonly vm: Attachments;
  /** The JSON patch for the VMI; absent if nothing needs to change. */
  readonly vmiPatch?: readonly PatchOperation[];
}

/**
 * Copies changes that can be made live from a VM to its VMI, and clears what has been unplugged.
 *
 * Bridge and SR-IOV interfaces are plugged in; `state` and the Multus attachment definition are copied. An
 * interface is not unplugged while Pod interfaces may have ordinal names. A VMI that is being deleted is left
 * alone.
 */
export function syncVmNetworks(
  vm: VirtualMachine,
  vmi: VirtualMachineInstance | undefined,
): NetworkSyncPlan {
  const template = at(vm, "spec", "template", "spec") as NetworkSpec | undefined;
  const wanted = attachmentsOf(template);
  if (vmi && isSet(at(vmi, "metadata", "deletionTimestamp"))) return { vm: wanted };
  const current = attachmentsOf(vmi?.spec);
  const reported = byName(interfaceStatusesOf(vmi));
  const isReported = (iface: Interface): boolean => reported.has(text(iface.name));
  const next = vmi ? nextOf(vmi, wanted, current, isReported) : current;
  const stays = byName(next.interfaces);
  const patch = vmi && patchOf(vmi, current, next);
  return {
    vm: keep(
      wanted,
      (iface) => !isAbsent(iface) || stays.has(text(iface.name)) || isReported(iface),
    ),
    ...(patch ? { vmiPatch: patch } : {}),
  };
}

function nextOf(
  vmi: VirtualMachineInstance,
  wanted: Attachments,
  current: Attachments,
  isReported: (iface: Interface) => boolean,
): Attachments {
  const ordinal = mayHaveOrdinalInterfaces(current.networks, interfaceStatusesOf(vmi));
  const plugged = plug(wanted, current, ordinal);
  const { interfaces, networks } = keep(plugged, (iface) => !isAbsent(iface) || isReported(iface));
  return { interfaces, networks: withDefinitionsOf(wanted.networks, networks) };
}

/** The VMI's lists with the VM's new interfaces and states. */
function plug(wanted: Attachments, current: Attachments, ordinal: boolean): Attachments {
  const states = new Map<string, Interface["state"]>();
  const added: Interface[] = [];
  const present = byName(current.interfaces);
  for (const iface of wanted.interfaces) {
    const counterpart = present.get(text(iface.name));
    if (!counterpart) {
      if (!isAbsent(iface) && (isSet(iface.bridge) || isSet(iface.sriov))) added.push(iface);
    } else if (!isAbsent(counterpart) && !(ordinal && isAbsent(iface))) {
      states.set(text(iface.name), iface.state);
    }
  }
  const networks = byName(wanted.networks);
  return {
    interfaces: [...current.interfaces.map((iface) => withState(iface, states)), ...added],
    networks: [...current.networks, ...added.flatMap(({ name }) => networks.get(text(name)) ?? [])],
  };
}

function withState(iface: Interface, states: ReadonlyMap<string, Interface["state"]>): Interface {
  const name = text(iface.name);
  if (!states.has(name) || states.get(name) === iface.state) return iface;
  const { state: _, ...rest } = iface;
  const state = states.get(name);
  return state ? { ...rest, state } : rest;
}

function withDefinitionsOf(
  wanted: readonly Network[],
  networks: readonly Network[],
): readonly Network[] {
  const wantedByName = byName(wanted);
  return networks.map((network) => {
    const source = wantedByName.get(text(network.name))?.multus;
    if (!source || !isSet(network.multus)) return network;
    return { ...network, multus: { ...network.multus, networkName: source.networkName } };
  });
}

function keep({ interfaces, networks }: Attachments, test: (i: Interface) => boolean): Attachments {
  const kept = interfaces.filter(test);
  return { interfaces: kept, networks: networksUsedBy(kept, networks) };
}

function patchOf(
  vmi: VirtualMachineInstance,
  current: Attachments,
  next: Attachments,
): readonly PatchOperation[] | undefined {
  if (sameJson(current, next)) return undefined;
  const networks = "/spec/networks";
  const interfaces = "/spec/domain/devices/interfaces";
  // A missing list is tested as null: an empty one would not match it.
  const found = (...path: string[]): unknown => at(vmi, "spec", ...path) ?? null;
  const list = next.interfaces.length > 0 ? next.interfaces : null;
  return [
    { op: "test", path: networks, value: found("networks") },
    { op: "add", path: networks, value: next.networks },
    { op: "test", path: interfaces, value: found("domain", "devices", "interfaces") },
    { op: "add", path: interfaces, value: list },
  ];
}

function attachmentsOf(spec: NetworkSpec | undefined): Attachments {
  return { interfaces: interfacesOf(spec), networks: networksOf(spec) };
}
