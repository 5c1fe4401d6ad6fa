import type { SchemaNode } from "@virtkit/api/schema";
import type { FieldSteps } from "./field-path.ts";
import type { Inputs } from "./inputs.ts";
import { schemaAt } from "./other-values.ts";

/** Longer than any list of an ordinary VMI. */
const longList = 32;

/** Deeper than any VMI. */
const maxDepth = 40;

/** Inputs without most items of their long lists. */
export interface NarrowInputs {
  readonly inputs: Inputs;
  /** Where one of its fields is in the whole inputs. */
  wholePath(input: string, path: FieldSteps): FieldSteps;
}

/**
 * The items of the long lists of some inputs, by name. A disk and its volume have the same name, and so have
 * the entries for them in maps of the context.
 */
export class LongLists {
  readonly names: ReadonlySet<string>;
  readonly #schemas: Readonly<Record<string, SchemaNode>>;

  constructor(inputs: Inputs, schemas: Readonly<Record<string, SchemaNode>>) {
    this.#schemas = schemas;
    const names = new Set<string>();
    collectNames(inputs, 0, names);
    this.names = names;
  }

  /** The name of the item at a path, given its parent; undefined if there is none. */
  nameAt(input: string, holder: object, path: FieldSteps): string | undefined {
    const step = path.at(-1) ?? "";
    if (Array.isArray(holder)) {
      const { name } = Object(holder[Number(step)]) as { name?: unknown };
      return typeof name === "string" && this.names.has(name) ? name : undefined;
    }
    if (path.length < 2 || !this.names.has(String(step))) return undefined;
    // A field that happens to have a disk's name is not about the disk.
    const isField = schemaAt(this.#schemas[input], path.slice(0, -1))?.kind === "object";
    return isField ? undefined : String(step);
  }

  /** Whether a path leads to or into an item. */
  isInItem(input: string, root: unknown, path: FieldSteps): boolean {
    let value = root;
    return path.some((step, at) => {
      const holder = Object(value) as Record<string | number, unknown>;
      value = holder[step];
      return this.nameAt(input, holder, path.slice(0, at + 1)) !== undefined;
    });
  }

  /** The inputs with only the items of one name. */
  only(name: string, inputs: Inputs): NarrowInputs {
    const indices = new Map<unknown, readonly number[]>();
    const narrow = Object.fromEntries(
      Object.entries(inputs).map(([input, value]) => [
        input,
        this.#only(name, input, [], value, indices),
      ]),
    );
    const wholePath = (input: string, path: FieldSteps): FieldSteps => {
      let holder = narrow[input];
      return path.map((step) => {
        const whole = indices.get(holder)?.[Number(step)] ?? step;
        holder = (Object(holder) as Record<string | number, unknown>)[step];
        return whole;
      });
    };
    return { inputs: narrow, wholePath };
  }

  #only(
    wanted: string,
    input: string,
    path: FieldSteps,
    value: unknown,
    indices: Map<unknown, readonly number[]>,
  ): unknown {
    if (typeof value !== "object" || value === null || path.length > maxDepth) return value;
    const isList = Array.isArray(value);
    const entries: [string | number, unknown][] = [];
    for (const [key, child] of isList ? value.entries() : Object.entries(value)) {
      const to = [...path, key];
      if ((this.nameAt(input, value, to) ?? wanted) !== wanted) continue;
      const isOwn = key === "metadata";
      entries.push([key, isOwn ? child : this.#only(wanted, input, to, child, indices)]);
    }
    if (!isList) return Object.fromEntries(entries);
    const list = entries.map(([, child]) => child);
    indices.set(
      list,
      entries.map(([index]) => Number(index)),
    );
    return list;
  }
}

function collectNames(value: unknown, depth: number, names: Set<string>): void {
  if (typeof value !== "object" || value === null || depth > maxDepth) return;
  if (Array.isArray(value) && value.length > longList) {
    for (const item of value) {
      const { name } = Object(item) as { name?: unknown };
      if (typeof name === "string") names.add(name);
    }
  }
  for (const [key, child] of Object.entries(value)) {
    if (key !== "metadata") collectNames(child, depth + 1, names);
  }
}
