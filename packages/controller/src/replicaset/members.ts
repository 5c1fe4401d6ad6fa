import { decodeGrant, grantAnnotation } from "@virtkit/api/grant";
import type { Names } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { at, entry, text } from "@virtkit/api/shape";
import { conditionsOf, hasCondition, isFinal } from "@virtkit/api/status";
import { isDeleting } from "../plan/ownership.ts";

/** Whether a VMI counts as a replica. One that has ended, or whose Pod is ending, does not. */
export function isActive(vmi: VirtualMachineInstance, names: Names): boolean {
  return !isFinal(vmi) && !isDeleting(vmi) && !hasEndingPod(vmi, names);
}

/** Whether to delete a VMI because it will not serve again. */
export function isFinished(vmi: VirtualMachineInstance, names: Names): boolean {
  return !isDeleting(vmi) && (isFinal(vmi) || hasEndingPod(vmi, names));
}

export function isReady(vmi: VirtualMachineInstance): boolean {
  return hasCondition(conditionsOf(vmi), "Ready", "True");
}

/** The Pod that a guest leaves ends, too, before the guest is known to have arrived in the other one. */
function hasEndingPod(vmi: VirtualMachineInstance, names: Names): boolean {
  if (!hasCondition(conditionsOf(vmi), "Ready", "False", "PodTerminating")) return false;
  const value = entry(vmi.metadata?.annotations, names.own(grantAnnotation));
  return !("target" in decodeGrant(value, text(vmi.metadata?.uid)));
}

/**
 * The order in which surplus VMIs are deleted: first those that do not run, then those that are not
 * ready, then the youngest, then by name, so that the choice is always the same.
 */
export function victims(
  vmis: readonly VirtualMachineInstance[],
): readonly VirtualMachineInstance[] {
  const worth = (vmi: VirtualMachineInstance): number =>
    (at(vmi, "status", "phase") === "Running" ? 1 : 0) + (isReady(vmi) ? 2 : 0);
  const born = (vmi: VirtualMachineInstance): string =>
    text(at(vmi, "metadata", "creationTimestamp"));
  const name = (vmi: VirtualMachineInstance): string => text(at(vmi, "metadata", "name"));
  return [...vmis].sort(
    (a, b) => worth(a) - worth(b) || compare(born(b), born(a)) || compare(name(a), name(b)),
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
