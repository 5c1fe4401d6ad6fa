import type { SchemaNode } from "../schema/index.ts";

/** Empty values for the required fields that may be missing. */
export type ZeroOf = (kind: SchemaNode["kind"]) => unknown;

/**
 * Strings, numbers and booleans. KubeVirt's webhook reads missing ones as empty (its rules then say what is
 * wrong with an empty name), whatever the schema says; it insists on everything else.
 */
export const zeroScalar: ZeroOf = (kind) => {
  switch (kind) {
    case "string":
      return "";
    case "integer":
    case "float":
      return 0;
    case "boolean":
      return false;
    default:
      return undefined;
  }
};

/** Everything that an object is decoded into without a check: a stored object may lack what is required now. */
export const zeroField: ZeroOf = (kind) => {
  switch (kind) {
    case "object":
    case "map":
      return {};
    case "array":
      return [];
    case "quantity":
      return "0";
    case "int-or-string":
      return 0;
    default:
      return zeroScalar(kind);
  }
};

/** A copy of an object in which missing required fields are present and empty. Copies only what it changes. */
export function withZeroValues(node: SchemaNode, value: unknown, zero: ZeroOf): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    return node.kind === "array"
      ? value.map((item) => withZeroValues(node.items, item, zero))
      : value;
  }
  return node.kind === "object"
    ? filled(node, value as Readonly<Record<string, unknown>>, zero)
    : value;
}

type ObjectNode = Extract<SchemaNode, { kind: "object" }>;

function filled(node: ObjectNode, value: Readonly<Record<string, unknown>>, zero: ZeroOf): object {
  const copy: Record<string, unknown> = { ...value };
  for (const [name, { schema, required }] of node.fields) {
    const found = Object.hasOwn(value, name) ? (value[name] ?? undefined) : undefined;
    const start = found ?? (required ? zero(schema.kind) : undefined);
    if (start !== undefined) copy[name] = withZeroValues(schema, start, zero);
  }
  return copy;
}
