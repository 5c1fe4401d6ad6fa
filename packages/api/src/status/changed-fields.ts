import { isObject } from "../shape.ts";

/**
 * The paths of the fields in which two values differ, each as deep as both have objects: a list that differs is
 * one field. For values in canonical form, where the order of fields is fixed.
 */
export function changedFields(a: unknown, b: unknown, path: string): readonly string[] {
  if (JSON.stringify(a) === JSON.stringify(b)) return [];
  if (!isObject(a) || !isObject(b)) return [path];
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].sort().flatMap((key) => changedFields(a[key], b[key], `${path}.${key}`));
}
