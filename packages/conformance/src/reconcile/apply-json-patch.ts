import { isDeepStrictEqual } from "node:util";
import { isObject } from "@virtkit/api/shape";
import type { JsonPatchOperation } from "@virtkit/kube";

/** A patch that does not apply. */
export class PatchError extends Error {
  override readonly name = "PatchError";
}

type Holder = Record<string, unknown> | unknown[];

/**
 * The result of a JSON patch on a document, which is not changed. As in the API server, a `test` for `null`
 * passes if there is nothing.
 */
export function applyJsonPatch<T>(document: T, operations: readonly JsonPatchOperation[]): T {
  const root = { document: structuredClone(document) };
  for (const operation of operations) apply(root, operation);
  return root.document;
}

function apply(root: object, operation: JsonPatchOperation): void {
  if (operation.op === "move" || operation.op === "copy") {
    throw new PatchError(`${operation.op} is not used in plans`);
  }
  const keys = ["document", ...pointer(operation.path)];
  const last = keys.pop() as string;
  const holder = holderAt(root as Holder, keys, operation);
  switch (operation.op) {
    case "test": {
      const value = holder && read(holder, last);
      if (isDeepStrictEqual(value ?? null, operation.value ?? null)) return;
      throw new PatchError(`test of ${operation.path} failed`);
    }
    case "add":
      put(demand(holder, operation), last, operation.value, true);
      return;
    case "replace":
      put(demand(holder, operation), last, operation.value, false);
      return;
    case "remove":
      remove(demand(holder, operation), last, operation.path);
  }
}

function holderAt(
  root: Holder,
  keys: readonly string[],
  operation: JsonPatchOperation,
): Holder | undefined {
  let current: unknown = root;
  for (const key of keys) {
    if (!isHolder(current)) break;
    current = read(current, key);
  }
  if (isHolder(current)) return current;
  return operation.op === "test" ? undefined : demand(undefined, operation);
}

function demand(holder: Holder | undefined, { path }: JsonPatchOperation): Holder {
  if (holder) return holder;
  throw new PatchError(`the parent of ${path} does not exist`);
}

function isHolder(value: unknown): value is Holder {
  return isObject(value) || Array.isArray(value);
}

function read(holder: Holder, key: string): unknown {
  return Object.hasOwn(holder, key) ? Reflect.get(holder, key) : undefined;
}

function put(holder: Holder, key: string, value: unknown, inserts: boolean): void {
  const copy = structuredClone(value);
  if (!Array.isArray(holder)) holder[key] = copy;
  else if (inserts) holder.splice(key === "-" ? holder.length : Number(key), 0, copy);
  else holder[Number(key)] = copy;
}

function remove(holder: Holder, key: string, path: string): void {
  if (!Object.hasOwn(holder, key)) throw new PatchError(`${path} does not exist`);
  if (Array.isArray(holder)) holder.splice(Number(key), 1);
  else delete holder[key];
}

function pointer(path: string): readonly string[] {
  if (path === "") return [];
  return path
    .slice(1)
    .split("/")
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
}
