import type {
  Interface,
  Network,
  VirtualMachine,
  VirtualMachineInstance,
} from "../schema/index.ts";
import { at, isSet } from "../shape.ts";
import { byName, interfacesOf, type NetworkSpec, networksOf } from "./interfaces.ts";
import { sameJson } from "./same-json.ts";

/**
 * Whether the networks of a VM differ from those of its VMI in a way that needs a restart.
 *
 * Adding an interface, changing its `state`, and changing the attachment definition of a Multus network are done
 * live. Everything else needs a restart, including removing an interface without setting `state: absent` first, and
 * adding the Pod network.
 */
export function networkRestartRequired(vm: VirtualMachine, vmi: VirtualMachineInstance): boolean {
  const wanted = at(vm, "spec", "template", "spec") as NetworkSpec | undefined;
  const current = vmi?.spec;
  return (
    changes(interfacesOf(wanted), interfacesOf(current), withoutState) ||
    (hasPodNetwork(wanted) && !hasPodNetwork(current)) ||
    changes(networksOf(wanted), networksOf(current), withoutDefinition)
  );
}

/** Whether an existing item is gone or differs, apart from what can be changed live. */
function changes<T extends { readonly name?: string }>(
  wanted: readonly T[],
  current: readonly T[],
  fixedPart: (item: T) => unknown,
): boolean {
  const wantedByName = byName(wanted);
  return [...byName(current)].some(([name, item]) => {
    const counterpart = wantedByName.get(name);
    return !counterpart || !sameJson(fixedPart(counterpart), fixedPart(item));
  });
}

function withoutState({ state: _, ...rest }: Interface): unknown {
  return rest;
}

function withoutDefinition(network: Network): unknown {
  if (!isSet(network.multus)) return network;
  return { ...network, multus: { ...network.multus, networkName: "" } };
}

function hasPodNetwork(spec: NetworkSpec | undefined): boolean {
  return networksOf(spec).some((network) => isSet(network.pod));
}
