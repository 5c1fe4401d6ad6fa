import { type FieldSteps, valueAt, withValueAt } from "./field-path.ts";
import type { Inputs } from "./inputs.ts";
import { swaps } from "./swaps.ts";

/** Deeper than any VMI. */
const maxDepth = 40;

/**
 * Changes of more than one field, for one that cannot change alone: a name together with everything that refers
 * to it, an item together with those of its name in other lists, one kind of volume, disk or interface for
 * another.
 */
export function wideChanges(
  inputs: Inputs,
  name: string,
  path: FieldSteps,
  value: unknown,
): Inputs[] {
  const last = path.at(-1);
  // Names under metadata are the VMI's own: nothing refers to them.
  if (path[0] === "metadata") return [];
  if (typeof value === "string") return last === "name" ? [renamed(inputs, value)] : [];
  if (typeof last === "number") {
    const { name: called } = Object(value) as { name?: unknown };
    return typeof called === "string" ? [withoutItems(inputs, called)] : [];
  }
  const holder = path.slice(0, -1);
  return swaps(valueAt(inputs[name], holder), String(last)).map((other) => ({
    ...inputs,
    [name]: withValueAt(inputs[name], holder, other),
  }));
}

/** With another name for everything that has this one, and for the keys that refer to it. */
function renamed(inputs: Inputs, name: string): Inputs {
  return rewrite(inputs, (key, value) => [
    key === name ? `${name}x` : key,
    key === "name" && value === name ? `${name}x` : value,
  ]);
}

/** Without the items of lists that have a certain name. */
function withoutItems(inputs: Inputs, name: string): Inputs {
  return rewrite(inputs, (key, value) => [
    key,
    Array.isArray(value) ? value.filter((item) => Object(item).name !== name) : value,
  ]);
}

/** A copy in which a function replaces every entry of an object below `metadata`. */
function rewrite(
  inputs: Inputs,
  change: (key: string, value: unknown) => [key: string, value: unknown],
): Inputs {
  const walk = (value: unknown, depth: number): unknown => {
    if (typeof value !== "object" || value === null || depth > maxDepth) return value;
    if (Array.isArray(value)) return value.map((item) => walk(item, depth + 1));
    const entries = Object.entries(value).map(([key, child]) => {
      if (key === "metadata") return [key, child];
      const [newKey, newChild] = change(key, child);
      return [newKey, walk(newChild, depth + 1)];
    });
    return Object.fromEntries(entries);
  };
  return walk(inputs, 0) as Inputs;
}
