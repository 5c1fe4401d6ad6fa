import { isObject } from "../shape.ts";

/**
 * Whether two networks or interfaces mean the same: the order of fields does not matter, and an empty field
 * (`null`, `""`, 0, `false`, `[]`) equals a missing one. An empty object does not: `bridge: {}` has a meaning.
 */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b || (isNothing(a) && isNothing(b))) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, i) => sameJson(item, b[i]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((key) =>
    sameJson(own(a, key), own(b, key)),
  );
}

function isNothing(value: unknown): boolean {
  return !value || (Array.isArray(value) && value.length === 0);
}

function own(value: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}
