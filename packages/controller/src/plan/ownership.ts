import { at, isSet, objects } from "@virtkit/api/shape";
import type { JsonPatchOperation, OwnerReference } from "@virtkit/kube";
import { valuePatch } from "./field-patch.ts";
import { uidOf } from "./object-name.ts";

/** The owner that manages an object; there is at most one. */
export function controllerOf(object: unknown): OwnerReference | undefined {
  return ownersOf(object).find(({ controller }) => controller === true);
}

/** Whether the owner with this UID manages an object. */
export function isControlledBy(object: unknown, uid: string): boolean {
  return uid !== "" && controllerOf(object)?.uid === uid;
}

/** Whether somebody has asked for an object's deletion. */
export function isDeleting(object: unknown): boolean {
  return isSet(at(object, "metadata", "deletionTimestamp"));
}

/** What an owner that selects objects must do about one of them. */
export type ClaimVerdict = "own" | "adopt" | "release" | "foreign";

/**
 * Judges an object: own objects that are no longer selected are released, selected objects that
 * nobody manages are adopted. An owner that is being deleted does neither, and objects that are
 * being deleted are not adopted.
 */
export function judgeClaim(object: unknown, owner: unknown, isSelected: boolean): ClaimVerdict {
  const controller = controllerOf(object);
  if (controller && controller.uid !== uidOf(owner)) return "foreign";
  if (controller && isSelected) return "own";
  if (isDeleting(owner)) return "foreign";
  if (controller) return "release";
  return isSelected && !isDeleting(object) ? "adopt" : "foreign";
}

/** Makes an owner manage an object. */
export function adoption(object: unknown, owner: OwnerReference): readonly JsonPatchOperation[] {
  const others = ownersOf(object).filter(({ uid }) => uid !== owner.uid);
  return ownersPatch(object, [...others, owner]);
}

/** Removes the owner with this UID from an object. */
export function release(object: unknown, uid: string): readonly JsonPatchOperation[] {
  return ownersPatch(
    object,
    ownersOf(object).filter((owner) => owner.uid !== uid),
  );
}

function ownersPatch(
  object: unknown,
  owners: readonly OwnerReference[],
): readonly JsonPatchOperation[] {
  const before = at(object, "metadata", "ownerReferences");
  return valuePatch(
    "/metadata/ownerReferences",
    before,
    owners.length > 0 ? [...owners] : undefined,
  );
}

function ownersOf(object: unknown): readonly OwnerReference[] {
  return objects<OwnerReference>(at(object, "metadata", "ownerReferences"));
}
