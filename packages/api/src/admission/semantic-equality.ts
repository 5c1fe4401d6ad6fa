import { wireForm } from "../defaults/index.ts";
import { Quantity, readQuantity } from "../quantity/index.ts";
import type { Schema, SchemaNode } from "../schema/index.ts";
import { isObject } from "../shape.ts";

/** Objects that KubeVirt treats as absent while they are empty, with their parents. */
const emptyIsAbsent: ReadonlySet<string> = new Set([
  "dataVolumeTemplates.metadata",
  "domain.resources",
  "features.acpi",
  "pvc.resources",
  "status.guestOSInfo",
  "storage.resources",
]);

/** Numbers and amounts that it treats as absent while they are zero. */
const zeroIsAbsent: ReadonlySet<string> = new Set([
  "hostDisk.capacity",
  "resourceFieldRef.divisor",
  "status.runtimeUser",
]);

/**
 * Whether two checked values mean the same to Kubernetes: the order of keys, absent or empty, meaningless
 * zeros, and the spelling of an amount or a time do not matter. `name` is the name of the field that has the
 * values.
 */
export function semanticallyEqual<T>(schema: Schema<T>, a: T, b: T, name = ""): boolean {
  return a === b || equal(schema, wireForm(schema, a), wireForm(schema, b), name);
}

function equal(node: SchemaNode | undefined, a: unknown, b: unknown, name: string): boolean {
  if (node?.kind === "nullable") return equal(node.inner, a, b, name);
  if (a === b || (isEmpty(a) && isEmpty(b))) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    const items = node?.kind === "array" ? node.items : undefined;
    return a.length === b.length && a.every((item, i) => equal(items, item, b[i], name));
  }
  if (isObject(a) && isObject(b)) return sameFields(node, a, b, name);
  if (node?.kind === "quantity") return sameAmount(a, b);
  return node?.kind === "string" && node.format === "date-time" && sameTime(a, b);
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

type Fields = Readonly<Record<string, unknown>>;

function sameFields(node: SchemaNode | undefined, a: Fields, b: Fields, name: string): boolean {
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const place = `${name}.${key}`;
    if (!equal(fieldOf(node, key), said(a, key, place), said(b, key, place), key)) return false;
  }
  return true;
}

function fieldOf(node: SchemaNode | undefined, key: string): SchemaNode | undefined {
  if (node?.kind === "map") return node.values;
  return node?.kind === "object" ? node.fields.get(key)?.schema : undefined;
}

/** The value of a field; nothing if KubeVirt treats it as absent. */
function said(fields: Fields, key: string, place: string): unknown {
  const value = Object.hasOwn(fields, key) ? fields[key] : undefined;
  if (zeroIsAbsent.has(place)) return value === 0 || value === "0" ? undefined : value;
  if (!emptyIsAbsent.has(place) || !isObject(value)) return value;
  return Object.keys(value).length === 0 ? undefined : value;
}

function sameAmount(a: unknown, b: unknown): boolean {
  const left = readQuantity(String(a));
  const right = readQuantity(String(b));
  return left instanceof Quantity && right instanceof Quantity && left.equals(right);
}

function sameTime(a: unknown, b: unknown): boolean {
  return Date.parse(String(a)) === Date.parse(String(b));
}
