import { isObject, isSet } from "../shape.ts";

/** An object that is being changed. Parts are copied before they change, so the original stays. */
export type Draft = Record<string, unknown>;

/** A copy of an object that can be changed at its first level; empty if the value is not an object. */
export function draftOf(value: unknown): Draft {
  return isObject(value) ? { ...value } : {};
}

/** The part of a draft at a path, created if it is missing, ready to be changed. */
export function part(draft: Draft, ...path: readonly string[]): Draft {
  let current = draft;
  for (const field of path) {
    const child = draftOf(current[field]);
    current[field] = child;
    current = child;
  }
  return current;
}

/** Sets a field that is missing or an empty string. */
export function setIfEmpty(draft: Draft, field: string, value: unknown): void {
  if (isBlank(draft[field]) && !isBlank(value)) draft[field] = value;
}

/** Sets a field that is missing; an explicit false, 0 or empty string stays. */
export function setIfMissing(draft: Draft, field: string, value: unknown): void {
  if (!isSet(draft[field]) && isSet(value)) draft[field] = value;
}

/** Changes each item of a list that is an object. A missing list stays missing. */
export function changeItems(draft: Draft, field: string, change: (item: Draft) => void): void {
  const list = draft[field];
  if (!Array.isArray(list)) return;
  draft[field] = list.map((item) => {
    if (!isObject(item)) return item;
    const copy = { ...item };
    change(copy);
    return copy;
  });
}

/** Whether a string field is missing or empty. */
export function isBlank(value: unknown): boolean {
  return !isSet(value) || value === "";
}
