import { check, type SchemaNode } from "@virtkit/api/schema";

type ObjectNode = Extract<SchemaNode, { kind: "object" }>;

/** Marks that a field is left out. */
export const absent: unique symbol = Symbol("absent");

/** Strings and keys that rules look for, although the schema does not list them. */
const architectures = ["amd64", "arm64", "s390x"];
const resources = ["memory", "cpu"];

/** How deep a stand-in is filled in: from a spec down to the source of a disk. */
const deepest = 6;

/**
 * Valid values of a schema, chosen to differ from each other: all values of an enum, small and large numbers,
 * objects with little, with one more field and with everything. Names in them are among the given ones.
 */
export function standIns(node: SchemaNode, names: readonly string[]): readonly unknown[] {
  const known = names.length > 0 ? names : ["a"];
  return candidates(node, known).filter((value) => check(node, value, { rules: true }).valid);
}

function candidates(node: SchemaNode, names: readonly string[]): readonly unknown[] {
  switch (node.kind) {
    case "string":
      return strings(node, names);
    case "boolean":
      return [false, true];
    case "integer":
    case "float":
      return [1, 0, 1024];
    case "quantity":
      return ["1Gi", "1", "1Ti"];
    case "int-or-string":
      return [1, ...names];
    case "array":
      return [[], ...lists(node.items, names)];
    case "map":
      return [{}, full(node, { names, depth: deepest, pick: 0 })];
    case "any-object":
      return [{}];
    case "object":
      return objects(node, names);
    case "nullable":
      return [null, ...candidates(node.inner, names)];
  }
}

function strings(
  { format, known }: Extract<SchemaNode, { kind: "string" }>,
  names: readonly string[],
): readonly string[] {
  if (format === "date-time") return ["2026-01-31T08:30:00Z"];
  if (format === "duration") return ["1m"];
  return known ?? [...names, ...architectures];
}

/** Lists with an item for each name, in each of its possible forms. */
function lists(items: SchemaNode, names: readonly string[]): readonly unknown[] {
  if (items.kind !== "object") return [candidates(items, names)];
  const forms = names.map((name) => objects(items, [name]));
  return (forms[0] ?? []).map((_, form) => forms.map((each) => each[form]));
}

/** How many values of a kind are tried within objects. */
const variations = [0, 1, 2];

function objects(node: ObjectNode, names: readonly string[]): readonly unknown[] {
  const optional = [...node.fields.keys()].filter((key) => !node.required.includes(key));
  const named = node.required.includes("name") ? names.map((name) => [name]) : [names];
  const least = variations.flatMap((pick) =>
    names.map((name) => withFields(node, node.required, { names: [name], depth: 0, pick })),
  );
  const most = withFields(node, [...node.fields.keys()], { names, depth: deepest, pick: 0 });
  const oneMore = named.flatMap((known) =>
    optional.map((key) =>
      withFields(node, [...node.required, key], { names: known, depth: deepest, pick: 0 }),
    ),
  );
  return [...least, most, ...oneMore];
}

/** How an object is filled in. */
interface Filling {
  readonly names: readonly string[];
  /** How many levels get all their fields; those below get what is required. */
  readonly depth: number;
  /** Which of the values of a kind is taken. */
  readonly pick: number;
}

function withFields({ fields }: ObjectNode, keys: readonly string[], filling: Filling): unknown {
  const filled = keys.map((key) => {
    const schema = fields.get(key)?.schema;
    return [key, schema && full(schema, filling)];
  });
  return Object.fromEntries(filled);
}

function full(node: SchemaNode, filling: Filling): unknown {
  const { names, depth, pick } = filling;
  const below = { ...filling, depth: depth - 1 };
  switch (node.kind) {
    case "nullable":
      return full(node.inner, filling);
    case "map":
      return Object.fromEntries(
        [...resources, ...names].map((key) => [key, full(node.values, below)]),
      );
    case "array":
      return depth > 0 ? names.map((name) => full(node.items, { ...below, names: [name] })) : [];
    case "object":
      return withFields(node, depth > 0 ? [...node.fields.keys()] : node.required, below);
    default: {
      const values = candidates(node, names);
      return values[pick % values.length];
    }
  }
}
