import { at } from "@virtkit/api/shape";
import type { JsonPatchOperation } from "@virtkit/kube";
import { valuePatch } from "../plan/field-patch.ts";

/**
 * The patch that removes a finalizer from an object and keeps all others; empty if the object does
 * not have it.
 */
export function withoutFinalizer(
  target: unknown,
  finalizer: string,
): readonly JsonPatchOperation[] {
  const before = at(target, "metadata", "finalizers");
  if (!Array.isArray(before) || !before.includes(finalizer)) return [];
  const after = before.filter((name) => name !== finalizer);
  return valuePatch("/metadata/finalizers", before, after.length > 0 ? after : undefined);
}
