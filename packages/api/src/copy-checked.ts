import type { Schema, SchemaNode } from "./schema/index.ts";

/**
 * A copy that may be changed wherever the schema knows a field; unknown parts are shared with the original.
 */
export function copyChecked<T>(schema: Schema<T>, value: T): T {
  return copy(schema, value) as T;
}

function copy(node: SchemaNode | undefined, value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  switch (node?.kind) {
    case "array":
      return Array.isArray(value) ? value.map((item) => copy(node.items, item)) : value;
    case "map":
    case "object":
      return copyObject(node, value as Readonly<Record<string, unknown>>);
    default:
      return value;
  }
}

function copyObject(
  node: Extract<SchemaNode, { kind: "map" | "object" }>,
  value: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const target: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    // An assignment would set the copy's prototype.
    if (key === "__proto__") continue;
    target[key] = copy(
      node.kind === "map" ? node.values : node.fields.get(key)?.schema,
      value[key],
    );
  }
  return target;
}
