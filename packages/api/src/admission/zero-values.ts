import type { SchemaNode } from "../schema/index.ts";

/** Objects that KubeVirt's schema insists on; every other required object may be left out. */
const insisted: ReadonlySet<string> = new Set([
  "disk",
  "spec",
  "template",
  "virtiofs",
  "volumeSource",
]);

/**
 * A copy of an object in which required texts, numbers, switches and objects that are missing are
 * there, empty. KubeVirt's webhook takes them for that (its rules then say what is wrong with an
 * empty name), whatever the schema says. Copies only what it changes.
 */
export function withZeroValues(node: SchemaNode, value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    return node.kind === "array" ? value.map((item) => withZeroValues(node.items, item)) : value;
  }
  return node.kind === "object" ? filled(node, value as Readonly<Record<string, unknown>>) : value;
}

type ObjectNode = Extract<SchemaNode, { kind: "object" }>;

function filled(node: ObjectNode, value: Readonly<Record<string, unknown>>): object {
  const copy: Record<string, unknown> = { ...value };
  for (const [name, { schema, required }] of node.fields) {
    const found = Object.hasOwn(value, name) ? (value[name] ?? undefined) : undefined;
    const start = found ?? (required ? zeroValue(schema, name) : undefined);
    if (start !== undefined) copy[name] = withZeroValues(schema, start);
  }
  return copy;
}

function zeroValue({ kind }: SchemaNode, name: string): unknown {
  switch (kind) {
    case "string":
      return "";
    case "integer":
    case "float":
      return 0;
    case "boolean":
      return false;
    case "object":
      return insisted.has(name) ? undefined : {};
    default:
      return undefined;
  }
}
