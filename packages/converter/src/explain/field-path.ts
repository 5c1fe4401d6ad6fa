/** Keys and indices that lead to a field. */
export type FieldSteps = readonly (string | number)[];

/** The value at a path; `undefined` if there is none. */
export function valueAt(root: unknown, path: FieldSteps): unknown {
  let value = root;
  for (const step of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step))
      return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}

/**
 * A copy with another value at a path that shares everything else; `undefined` removes the field, or the item
 * of the list. Missing objects on the way are added.
 */
export function withValueAt(root: unknown, [step, ...rest]: FieldSteps, value: unknown): unknown {
  if (step === undefined) return value;
  if (Array.isArray(root)) {
    const items: unknown[] = [...root];
    if (rest.length === 0 && value === undefined) items.splice(Number(step), 1);
    else items[Number(step)] = withValueAt(root[Number(step)], rest, value);
    return items;
  }
  const copy = { ...(root as Record<string, unknown> | null | undefined) };
  const next = withValueAt(copy[step], rest, value);
  if (next === undefined) delete copy[step];
  else copy[step] = next;
  return copy;
}

/** Whether a path leads to something within another path. */
export function isWithin(path: FieldSteps, outer: FieldSteps): boolean {
  return path.length > outer.length && outer.every((step, at) => step === path[at]);
}
