import { isDeepStrictEqual } from "node:util";
import { type JsonPatchOperation, KubeError } from "@virtkit/kube";

type Json = Readonly<Record<string, unknown>>;

/**
 * An object after a JSON patch. Only what is on the path to a change is copied; everything else is shared, so objects must not be
 * changed in place.
 */
export function patched<T>(object: T, operations: readonly JsonPatchOperation[]): T {
  let value: unknown = object;
  for (const operation of operations) {
    const keys = keysOf(operation.path);
    if (operation.op === "test") test(value, keys, operation);
    else value = changed(value, keys, 0, operation);
  }
  return value as T;
}

/** An object after a merge patch. */
export function merged<T>(value: T, patch: unknown): T {
  if (!isMap(patch)) return patch as T;
  const result: Record<string, unknown> = isMap(value) ? { ...value } : {};
  for (const [key, item] of Object.entries(patch)) {
    if (item === null) delete result[key];
    else if (item !== undefined) result[key] = merged(result[key], item);
  }
  return result as T;
}

function keysOf(path: string): readonly string[] {
  return path
    .slice(1)
    .split("/")
    .map((key) => (key.includes("~") ? key.replaceAll("~1", "/").replaceAll("~0", "~") : key));
}

function test(value: unknown, keys: readonly string[], operation: JsonPatchOperation): void {
  let found = value;
  for (const key of keys)
    found = isMap(found) || Array.isArray(found) ? (found as Json)[key] : null;
  const wanted = "value" in operation ? operation.value : null;
  if (isDeepStrictEqual(found ?? null, wanted ?? null)) return;
  throw refused(`the test of ${operation.path} failed`);
}

function changed(
  value: unknown,
  keys: readonly string[],
  depth: number,
  operation: JsonPatchOperation,
): unknown {
  const key = keys[depth] ?? "";
  const isLast = depth === keys.length - 1;
  const { op } = operation;
  if (Array.isArray(value)) {
    const index = key === "-" ? value.length : Number(key);
    if (isLast) return changedList(value, index, operation);
    return value.with(index, changed(value[index], keys, depth + 1, operation));
  }
  if (!isMap(value)) throw refused(`the path ${operation.path} does not exist`);
  if (!isLast) return { ...value, [key]: changed(value[key], keys, depth + 1, operation) };
  if (op === "add") return { ...value, [key]: operation.value };
  if (!(key in value)) throw refused(`there is no value at ${operation.path}`);
  if (op === "replace") return { ...value, [key]: operation.value };
  const { [key]: _, ...rest } = value;
  return rest;
}

function changedList(
  list: readonly unknown[],
  index: number,
  operation: JsonPatchOperation,
): unknown {
  if (operation.op === "remove") return list.toSpliced(index, 1);
  if (operation.op === "add") return list.toSpliced(index, 0, operation.value);
  return operation.op === "replace" ? list.with(index, operation.value) : list;
}

function isMap(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Like an API server that refuses a patch: it says only 422. */
function refused(message: string): KubeError {
  return new KubeError("KUBE_STATUS", message, { status: 422, reason: "Invalid" });
}
