import type { VirtualMachine } from "@virtkit/api/schema";
import { at, isSet, text } from "@virtkit/api/shape";
import { conditionsOf, hasCondition } from "@virtkit/api/status";
import { readRequirements, readSelector } from "../plan/label-selector.ts";
import { nameOf } from "../plan/object-name.ts";
import type { SelectionPolicy } from "./pool-view.ts";

export function isReady(vm: VirtualMachine): boolean {
  return hasCondition(conditionsOf(vm), "Ready", "True");
}

/** The number at the end of a VM's name; undefined for other names. */
export function indexOf(vm: VirtualMachine): number | undefined {
  const digits = nameOf(vm).name.split("-").at(-1) ?? "";
  return /^\d{1,15}$/.test(digits) ? Number(digits) : undefined;
}

/**
 * VMs in the order in which they are selected. `Random`, the default policy of a pool, means that any order is
 * allowed: VMs that are not ready are selected first, then the newest, then the highest number. The choice is
 * always the same, so a repeated pass does not select others.
 */
export function victimsOf(
  vms: readonly VirtualMachine[],
  policy: SelectionPolicy | undefined,
): readonly VirtualMachine[] {
  const number = (vm: VirtualMachine): number => indexOf(vm) ?? 0;
  const born = (vm: VirtualMachine): string => text(at(vm, "metadata", "creationTimestamp"));
  const byAge = (a: VirtualMachine, b: VirtualMachine): number =>
    born(a) < born(b) ? -1 : born(a) > born(b) ? 1 : 0;
  const orders: Readonly<Record<string, (a: VirtualMachine, b: VirtualMachine) => number>> = {
    AscendingOrder: (a, b) => number(a) - number(b),
    DescendingOrder: (a, b) => number(b) - number(a),
    Newest: (a, b) => byAge(b, a),
    Oldest: byAge,
  };
  const free = (a: VirtualMachine, b: VirtualMachine): number =>
    Number(isReady(a)) - Number(isReady(b)) || byAge(b, a) || number(b) - number(a);
  const named = text(policy?.sortPolicy);
  return [...vms].sort((Object.hasOwn(orders, named) ? orders[named] : undefined) ?? free);
}

/** The VMs that a policy's selectors allow, or why the selectors cannot be read. */
export function selected(
  vms: readonly VirtualMachine[],
  policy: SelectionPolicy | undefined,
): { readonly vms: readonly VirtualMachine[] } | { readonly problem: string } {
  const { labelSelector, nodeSelectorRequirementMatcher: nodes } = policy?.selectors ?? {};
  const labels = isSet(labelSelector) ? readSelector(labelSelector) : everything;
  const placed = isSet(nodes) ? readRequirements(nodes) : everything;
  if (!labels || !placed) {
    const field = labels ? "nodeSelectorRequirementMatcher" : "labelSelector";
    return { problem: `selectionPolicy.selectors.${field} is not a valid selector; correct it` };
  }
  return {
    vms: vms.filter(
      (vm) =>
        labels.matches(at(vm, "spec", "template", "metadata", "labels")) &&
        placed.matches(at(vm, "spec", "template", "spec", "nodeSelector")),
    ),
  };
}

const everything = { matches: (): boolean => true };
