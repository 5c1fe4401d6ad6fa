import { at, isSet, objects } from "@virtkit/api/shape";
import type { JsonPatchOperation, OwnerReference } from "@virtkit/kube";
import { valuePatch } from "./field-patch.ts";
import { uidOf } from "./object-name.ts";

/** The owner that manages an object: there is one at most. */
export function controllerOf(object: unknown): OwnerReference | undefined {
  return ownersOf(object).find(({ controller }) => controller === true);
}

/** Whether an object is managed by the owner of this UID. */
export function isControlledBy(object: unknown, uid: string): boolean {
  return uid !== "" && controllerOf(object)?.uid === uid;
}

/** Whether somebody has asked for an object to go. */
export function isDeleting(object: unknown): boolean {
  return isSet(at(object, "metadata", "deletionTimestamp"));
}

/** What an owner that selects objects is to do about one of them. */
export type ClaimVerdict = "own" | "adopt" | "release" | "foreign";

/**
 * Judges an object: own ones that are no longer selected are released, selected ones that nobody manages are
 * adopted. An owner that is being deleted does neither, and what is being deleted is not adopted.
 */
export function judgeClaim(object: unknown, owner: unknown, isSelected: boolean): ClaimVerdict {
  const controller = controllerOf(object);
  if (controller && controller.uid !== uidOf(owner)) return "foreign";
  if (controller && isSelected) return "own";
  if (isDeleting(owner)) return "foreign";
  if (controller) return "release";
  return isSelected && !isDeleting(object) ? "adopt" : "foreign";
}

/** Makes an object belong to an owner. */
export function adoption(object: unknown, owner: OwnerReference): readonly JsonPatchOperation[] {
  const others = ownersOf(object).filter(({ uid }) => uid !== owner.uid);
  return ownersPatch(object, [...others, owner]);
}

/** Makes an object no longer belong to the owner of this UID. */
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
