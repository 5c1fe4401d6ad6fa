import { wireForm } from "../defaults/index.ts";
import { Quantity, readQuantity } from "../quantity/index.ts";
import type { Schema } from "../schema/index.ts";

/** Fields whose texts are amounts: `1Gi` and `1024Mi` are the same there. */
const amounts: ReadonlySet<string> = new Set([
  "addedOverhead",
  "capacity",
  "cpu",
  "guest",
  "guestAtBoot",
  "guestCurrent",
  "guestRequested",
  "maxGuest",
  "memory",
  "storage",
]);

/**
 * Whether two checked values say the same, as Kubernetes sees it: the order of keys, the difference
 * between absent and empty, zeros that mean nothing, and the spelling of an amount do not count.
 */
export function semanticallyEqual<T>(schema: Schema<T>, a: T, b: T): boolean {
  return a === b || equal(wireForm(schema, a), wireForm(schema, b), "");
}

function equal(a: unknown, b: unknown, name: string): boolean {
  if (a === b || (isEmpty(a) && isEmpty(b))) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, i) => equal(item, b[i], name));
  }
  if (isRecord(a) && isRecord(b)) return sameFields(a, b);
  return amounts.has(name) && sameAmount(a, b);
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function sameFields(
  a: Readonly<Record<string, unknown>>,
  b: Readonly<Record<string, unknown>>,
): boolean {
  const keys = Object.keys(a);
  if (!keys.every((key) => equal(a[key], Object.hasOwn(b, key) ? b[key] : undefined, key))) {
    return false;
  }
  return Object.keys(b).every((key) => Object.hasOwn(a, key) || isEmpty(b[key]));
}

function sameAmount(a: unknown, b: unknown): boolean {
  const left = readQuantity(String(a));
  const right = readQuantity(String(b));
  return left instanceof Quantity && right instanceof Quantity && left.equals(right);
}
