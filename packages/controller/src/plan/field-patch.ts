import { isDeepStrictEqual } from "node:util";
import { at, isObject, isSet, type JsonObject, object, text } from "@virtkit/api/shape";
import type { JsonPatchOperation } from "@virtkit/kube";
import { jsonPointer } from "./json-pointer.ts";

/**
 * The JSON patch that turns the fields of one object into those of another. Each field that changes
 * is tested first, so that the patch fails if somebody else has changed it; `null` tests that the
 * field is missing.
 *
 * @param path of the object, such as `/status`
 */
export function fieldPatch(
  path: string,
  before: unknown,
  after: JsonObject,
): readonly JsonPatchOperation[] {
  if (!isObject(before)) {
    return [
      { op: "test", path, value: null },
      { op: "add", path, value: after },
    ];
  }
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((field) =>
    valuePatch(`${path}${jsonPointer(field)}`, before[field], after[field]),
  );
}

/** The JSON patch that sets a value, tested as in {@link fieldPatch}; `undefined` removes it. */
export function valuePatch(
  path: string,
  before: unknown,
  after: unknown,
): readonly JsonPatchOperation[] {
  if (isDeepStrictEqual(before ?? undefined, after ?? undefined)) return [];
  const test: JsonPatchOperation = { op: "test", path, value: before ?? null };
  if (!isSet(after)) return [test, { op: "remove", path }];
  return [test, { op: isSet(before) ? "replace" : "add", path, value: after }];
}

/** Makes a patch fail if any field of the object has changed since it was read. */
export function versionTest(object: unknown): readonly JsonPatchOperation[] {
  const value = text(at(object, "metadata", "resourceVersion"));
  return value === "" ? [] : [{ op: "test", path: "/metadata/resourceVersion", value }];
}

/** Whether two objects mean the same: a field that is empty, 0 or false equals a missing one. */
export function sameFields(a: unknown, b: unknown): boolean {
  return isDeepStrictEqual(saying(a), saying(b));
}

function saying(value: unknown): unknown {
  const says = (field: unknown): boolean => (Array.isArray(field) ? field.length > 0 : !!field);
  return Object.fromEntries(Object.entries(object(value)).filter(([, field]) => says(field)));
}
