import type { Schema, SchemaNode } from "./schema.ts";

/**
 * A copy of a value without the fields that its schema does not know, as the API server stores it. Parts that
 * do not match the schema are kept as they are.
 */
export function prune<T>(schema: Schema<T>, value: T): T {
  return pruned(schema, value) as T;
}

function pruned(node: SchemaNode, value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  switch (node.kind) {
    case "array":
      return Array.isArray(value) ? value.map((item) => pruned(node.items, item)) : value;
    case "map":
      return prunedFields(value, () => node.values);
    case "object":
      return prunedFields(value, (key) => node.fields.get(key)?.schema);
    default:
      return value;
  }
}

function prunedFields(value: object, schemaOf: (key: string) => SchemaNode | undefined): object {
  const copy: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(value)) {
    const schema = schemaOf(key);
    // An assignment to __proto__ would set the copy's prototype.
    if (schema && key !== "__proto__") copy[key] = pruned(schema, field);
  }
  return copy;
}
