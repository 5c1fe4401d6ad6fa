import { wireForm } from "./defaults/wire-form.ts";
import type { ObjectNode, Schema, SchemaNode } from "./schema/schema.ts";
import { isObject, isSet } from "./shape.ts";

/**
 * An object in normal form, so that different spellings can be compared: as KubeVirt would write it
 * (`wireForm`), without unknown fields, and with fields in the schema's order. An empty object stays: `rng: {}`
 * asks for a device.
 *
 * @returns `undefined` for an empty value. A value that does not match the schema is returned unchanged.
 */
export function canonicalForm(value: unknown, schema: SchemaNode): unknown {
  if (!isSet(value) || value === "") return undefined;
  return ordered(wireForm(schema as Schema<unknown>, value), schema);
}

/** Whether two values of one schema mean the same, however they are written. */
export function sameMeaning(a: unknown, b: unknown, schema: SchemaNode): boolean {
  return JSON.stringify(canonicalForm(a, schema)) === JSON.stringify(canonicalForm(b, schema));
}

function ordered(value: unknown, schema: SchemaNode): unknown {
  if (schema.kind === "nullable") return ordered(value, schema.inner);
  if (Array.isArray(value)) {
    return schema.kind === "array" ? value.map((item) => ordered(item, schema.items)) : value;
  }
  if (!isObject(value)) return value;
  if (schema.kind === "object") return orderedFields(value, schema);
  if (schema.kind !== "map") return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, ordered(item, schema.values)]));
}

function orderedFields(value: Readonly<Record<string, unknown>>, schema: ObjectNode): unknown {
  const entries: [string, unknown][] = [];
  for (const [name, field] of schema.fields) {
    const found = Object.hasOwn(value, name) ? value[name] : undefined;
    if (isSet(found)) entries.push([name, ordered(found, field.schema)]);
  }
  return Object.fromEntries(entries);
}
