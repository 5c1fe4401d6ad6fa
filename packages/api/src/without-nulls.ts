import type { SchemaNode } from "./schema/index.ts";

/**
 * The same value without `null` fields, which Kubernetes reads as absent. Returns the argument itself if it has
 * none; otherwise copies only the path to them.
 *
 * Looks no deeper than the schema, so that deep nesting does no harm.
 */
export function withoutNulls<T>(schema: SchemaNode, value: T): T {
  return strip(schema, value) as T;
}

function strip(node: SchemaNode, value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  switch (node.kind) {
    case "array":
      return Array.isArray(value) ? stripList(node.items, value) : value;
    case "map":
    case "object":
      return stripObject(node, value as Record<string, unknown>);
    default:
      return value;
  }
}

function stripList(items: SchemaNode, list: readonly unknown[]): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let i = 0; i < list.length; i++) {
    const item = list[i];
    const stripped = strip(items, item);
    if (stripped === item) continue;
    copy ??= [...list];
    copy[i] = stripped;
  }
  return copy ?? list;
}

function stripObject(
  node: Extract<SchemaNode, { kind: "map" | "object" }>,
  object: Record<string, unknown>,
): Record<string, unknown> {
  let copy: Record<string, unknown> | undefined;
  for (const key of Object.keys(object)) {
    const field = object[key];
    const schema = node.kind === "map" ? node.values : node.fields.get(key)?.schema;
    if (!schema || schema.kind === "nullable") continue;
    const stripped = strip(schema, field);
    if (field !== null && stripped === field) continue;
    copy ??= { ...object };
    if (field === null) delete copy[key];
    else copy[key] = stripped;
  }
  return copy ?? object;
}
