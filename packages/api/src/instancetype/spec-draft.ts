import { isObject, isSet } from "../shape.ts";

/** An object that is being changed. Parts are copied before they are, so the original stays. */
export type Draft = Record<string, unknown>;

/** A copy of an object that can be changed at its first level; empty if it is none. */
export function draftOf(value: unknown): Draft {
  return isObject(value) ? { ...value } : {};
}

/** The part of a draft behind a path, made if it is missing, ready to be changed. */
export function part(draft: Draft, ...path: readonly string[]): Draft {
  let current = draft;
  for (const field of path) {
    const child = draftOf(current[field]);
    current[field] = child;
    current = child;
  }
  return current;
}

/** Sets a field that says nothing yet: one that is missing or is an empty text. */
export function setIfEmpty(draft: Draft, field: string, value: unknown): void {
  if (isBlank(draft[field]) && !isBlank(value)) draft[field] = value;
}

/** Sets a field that is missing; an explicit false, 0 or empty text stays. */
export function setIfMissing(draft: Draft, field: string, value: unknown): void {
  if (!isSet(draft[field]) && isSet(value)) draft[field] = value;
}

/** Changes each item of a list that is an object. A list that is missing stays missing. */
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

/** Whether a text field says nothing. */
export function isBlank(value: unknown): boolean {
  return !isSet(value) || value === "";
}
