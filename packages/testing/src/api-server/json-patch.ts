import type { JsonPatchOperation } from "@virtkit/kube";
import { sameJson } from "./json.ts";

/** Why a patch cannot be applied. */
export class PatchFailure extends Error {
  override readonly name = "PatchFailure";
}

/** The value after a JSON patch (RFC 6902). The given value is not changed. */
export function applyJsonPatch(value: unknown, operations: readonly JsonPatchOperation[]): unknown {
  const root = { value: structuredClone(value) };
  for (const operation of operations) apply(root, operation);
  return root.value;
}

function apply(root: Root, operation: JsonPatchOperation): void {
  const { op, path } = operation;
  switch (op) {
    case "test":
      test(root, path, operation.value);
      break;
    case "remove":
      remove(root, path);
      break;
    case "move": {
      const moved = find(root, operation.from);
      remove(root, operation.from);
      add(root, path, moved);
      break;
    }
    case "copy":
      add(root, path, structuredClone(find(root, operation.from)));
      break;
    case "add":
      add(root, path, structuredClone(operation.value));
      break;
    case "replace":
      replace(root, path, structuredClone(operation.value));
      break;
    default:
      throw new PatchFailure(`unknown operation ${JSON.stringify(op)}`);
  }
}

/** Holds a value as an object does, so that the whole value can be replaced, too. */
interface Root {
  value: unknown;
}

/** A value that is not there passes as null: API servers take it so. */
function test(root: Root, path: string, value: unknown): void {
  const place = locate(root, path);
  const found = Array.isArray(place.in) ? place.in[place.key as number] : own(place.in, place.key);
  if (sameJson(found ?? null, value ?? null)) return;
  throw new PatchFailure(`the test of ${path} failed`);
}

/** What is not there cannot be replaced. */
function replace(root: Root, path: string, value: unknown): void {
  find(root, path);
  const place = locate(root, path);
  if (Array.isArray(place.in)) place.in[place.key as number] = value;
  else place.in[place.key] = value;
}

/** Where a value is: in an object by its key, or in a list by its index. */
type Place =
  | { readonly in: Record<string, unknown>; readonly key: string }
  | { readonly in: unknown[]; readonly key: number };

/** The place that a pointer names. `-` is the end of a list. */
function locate(root: Root, pointer: string): Place {
  if (pointer === "") return { in: root as unknown as Record<string, unknown>, key: "value" };
  if (!pointer.startsWith("/")) throw new PatchFailure(`the path ${pointer} must start with /`);
  const cut = pointer.lastIndexOf("/");
  const parent = find(root, pointer.slice(0, cut));
  const key = pointer
    .slice(cut + 1)
    .replaceAll("~1", "/")
    .replaceAll("~0", "~");
  if (Array.isArray(parent)) {
    const index = key === "-" ? parent.length : /^(0|[1-9]\d*)$/.test(key) ? Number(key) : -1;
    if (index >= 0 && index <= parent.length) return { in: parent, key: index };
  } else if (typeof parent === "object" && parent !== null && key !== "__proto__") {
    return { in: parent as Record<string, unknown>, key };
  }
  throw new PatchFailure(`there is no place ${pointer}`);
}

/** The value that a pointer names. `undefined` nowhere: a missing key fails the patch. */
function find(root: Root, pointer: string): unknown {
  if (pointer === "") return root.value;
  const place = locate(root, pointer);
  const found = Array.isArray(place.in) ? place.in[place.key as number] : own(place.in, place.key);
  if (found === undefined) throw new PatchFailure(`there is no value at ${pointer}`);
  return found;
}

function add(root: Root, pointer: string, value: unknown): void {
  const place = locate(root, pointer);
  if (Array.isArray(place.in)) place.in.splice(place.key as number, 0, value);
  else place.in[place.key] = value;
}

function remove(root: Root, pointer: string): void {
  find(root, pointer);
  const place = locate(root, pointer);
  if (Array.isArray(place.in)) place.in.splice(place.key as number, 1);
  else delete place.in[place.key];
}

function own(object: Record<string, unknown>, key: string | number): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
