import type { VirtualMachine, Volume } from "../schema/index.ts";
import { at, isSet, objects, text } from "../shape.ts";
import { type Condition, conditionsOf, findCondition, hasCondition } from "./conditions.ts";

/** The part of a DataVolume that states of VMs depend on. */
export interface DataVolume {
  readonly metadata?: { readonly name?: string; readonly namespace?: string };
  readonly status?: { readonly phase?: string; readonly conditions?: readonly Condition[] };
}

/** The part of a PersistentVolumeClaim that states of VMs depend on. */
export interface VolumeClaim {
  readonly metadata?: { readonly name?: string; readonly namespace?: string };
  readonly status?: { readonly phase?: string };
}

/** What is known about a VM's storage. */
export interface VmStorage {
  readonly dataVolumes?: readonly DataVolume[] | undefined;
  readonly claims?: readonly VolumeClaim[] | undefined;
}

/** The volumes of a VM's template. */
export function volumesOf(vm: VirtualMachine): readonly Volume[] {
  return objects<Volume>(at(vm, "spec", "template", "spec", "volumes"));
}

/** The object of this name in the VM's namespace. */
export function inNamespaceOf<T>(
  vm: VirtualMachine,
  name: string,
  candidates: readonly T[] | undefined,
): T | undefined {
  const namespace = text(at(vm, "metadata", "namespace"));
  return objects<T>(candidates).find(
    (item) =>
      at(item, "metadata", "name") === name &&
      text(at(item, "metadata", "namespace")) === namespace,
  );
}

/** The existing DataVolumes that the VM's volumes use. */
export function usedDataVolumes(vm: VirtualMachine, storage: VmStorage): readonly DataVolume[] {
  return volumesOf(vm)
    .filter((volume) => isSet(volume.dataVolume))
    .flatMap((volume) => {
      const name = text(at(volume.dataVolume, "name"));
      return inNamespaceOf(vm, name, storage.dataVolumes) ?? [];
    });
}

/** Whether filling a DataVolume failed permanently. */
export function hasFailed(dataVolume: DataVolume): boolean {
  if (phaseOf(dataVolume) === "Failed") return true;
  const conditions = conditionsOf(dataVolume);
  return (
    hasCondition(conditions, "Running", "False", "Error") ||
    hasCondition(conditions, "Running", "False", "ImagePullFailed")
  );
}

/** Whether a DataVolume is being filled; one that waits for its first consumer is not. */
export function isProvisioning(dataVolume: DataVolume): boolean {
  const phase = phaseOf(dataVolume);
  if (phase === "Succeeded" || phase === "PendingPopulation") return false;
  const isBound = hasCondition(conditionsOf(dataVolume), "Bound", "True");
  return isBound || phase !== "WaitForFirstConsumer";
}

/** The quota's message, if the quota keeps a DataVolume from its claim. */
export function quotaMessage(dataVolume: DataVolume): string | undefined {
  const bound = findCondition(conditionsOf(dataVolume), "Bound");
  return bound && bound.status !== "True" && bound.reason === "ErrExceededQuota"
    ? text(bound.message)
    : undefined;
}

/** The claim behind a volume; a DataVolume's has the DataVolume's name. */
export function claimNameOf(volume: Volume): string {
  if (isSet(volume.dataVolume)) return text(at(volume.dataVolume, "name"));
  if (isSet(volume.persistentVolumeClaim)) {
    return text(at(volume.persistentVolumeClaim, "claimName"));
  }
  return text(at(volume.memoryDump, "claimName"));
}

/** Whether a claim of the VM exists and is not bound. */
export function hasUnboundClaim(vm: VirtualMachine, storage: VmStorage): boolean {
  return volumesOf(vm).some((volume) => {
    const name = claimNameOf(volume);
    const claim = name && inNamespaceOf(vm, name, storage.claims);
    return Boolean(claim) && at(claim, "status", "phase") !== "Bound";
  });
}

/** The phase of a DataVolume, or an empty string. */
export function phaseOf(dataVolume: DataVolume): string {
  return text(at(dataVolume, "status", "phase"));
}
