import { interfacesOf } from "@virtkit/api/network";
import type { Interface, VirtualMachineInstance } from "@virtkit/api/schema";

/** One difference between the networks of two VMIs, and how to apply it. */
export type NetworkChange =
  | { readonly kind: "plug" | "unplug"; readonly network: string }
  | { readonly kind: "linkState"; readonly network: string; readonly state: "up" | "down" }
  /**
   * The guest must migrate: a device that cannot be plugged in live, or another definition of the
   * network.
   */
  | { readonly kind: "migrate"; readonly network: string }
  /** The guest must restart. */
  | { readonly kind: "restart"; readonly network: string; readonly field: string };

/**
 * The changes between two VMIs, in the order in which to carry them out: removals, additions, then
 * link states. Pure. A VMI without interfaces has none.
 */
export function networkChanges(
  from: VirtualMachineInstance,
  to: VirtualMachineInstance,
): readonly NetworkChange[] {
  const old = new Map(interfacesOf(from.spec).map((iface) => [iface.name, iface]));
  const next = new Map(interfacesOf(to.spec).map((iface) => [iface.name, iface]));
  const gone = [...old.values()]
    .filter((iface) => isPresent(iface) && !isPresent(next.get(iface.name)))
    .map(({ name }): NetworkChange => ({ kind: "unplug", network: name }));
  const come = [...next.values()]
    .filter((iface) => isPresent(iface) && !isPresent(old.get(iface.name)))
    .map(plugChange);
  const changed = [...next.values()].flatMap((iface) => {
    const before = old.get(iface.name);
    return isPresent(iface) && before && isPresent(before)
      ? keptChanges(from, to, before, iface)
      : [];
  });
  return [...gone, ...come, ...changed];
}

function isPresent(iface: Interface | undefined): boolean {
  return iface !== undefined && iface.state !== "absent";
}

/**
 * A bridge can be plugged in live; a host device comes only with a new Pod; the rest at a start.
 */
function plugChange({ name, bridge, sriov }: Interface): NetworkChange {
  if (bridge) return { kind: "plug", network: name };
  return sriov
    ? { kind: "migrate", network: name }
    : { kind: "restart", network: name, field: "interfaces" };
}

function keptChanges(
  from: VirtualMachineInstance,
  to: VirtualMachineInstance,
  before: Interface,
  after: Interface,
): readonly NetworkChange[] {
  const network = after.name;
  const definition = (vmi: VirtualMachineInstance): string | undefined =>
    vmi.spec?.networks?.find(({ name }) => name === network)?.multus?.networkName;
  const { state: stateBefore, ...restBefore } = before;
  const { state: stateAfter, ...restAfter } = after;
  const linkState = stateAfter === "down" ? "down" : "up";
  const changes: NetworkChange[] = [];
  if (canonical(restBefore) !== canonical(restAfter)) {
    changes.push({ kind: "restart", network, field: `interfaces.${network}` });
  }
  if (definition(from) !== definition(to)) changes.push({ kind: "migrate", network });
  if ((stateBefore === "down" ? "down" : "up") !== linkState) {
    changes.push({ kind: "linkState", network, state: linkState });
  }
  return changes;
}

/** JSON with sorted fields: the order of fields has no meaning. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, item) =>
    typeof item === "object" && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}
