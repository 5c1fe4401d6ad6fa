import { publishedDefinitions, recordedFacts } from "@virtkit/conformance/recorded";
import { describe, expect, test } from "vitest";
import * as everything from "./index.ts";
import type { ArrayNode, FieldNode, IntegerFormat, SchemaNode } from "./schema.ts";

/** Kinds without their own definition in the list; they equal those on the right. */
const variants: Readonly<Record<string, string>> = {
  VirtualMachineClusterInstancetype: "VirtualMachineInstancetype",
  VirtualMachineClusterPreference: "VirtualMachinePreference",
};

/** Kinds of API groups that the list leaves out. */
const unlisted: ReadonlySet<string> = new Set(["VirtualMachinePool"]);

/** Definitions with another name here, because two of KubeVirt's share their last part. */
const renamed: Readonly<Record<string, string>> = {
  "k8s.io.api.core.v1.PersistentVolumeClaimVolumeSource": "CorePersistentVolumeClaimVolumeSource",
  "v1beta1.DataVolumeSource": "CdiDataVolumeSource",
};

/** Definitions that are not objects. */
const scalars: Readonly<Record<string, string>> = {
  Time: "string:date-time",
  Duration: "string",
  Quantity: "string|integer|number",
};

const formats: Readonly<Record<IntegerFormat, string>> = {
  int: "int32",
  int32: "int32",
  int64: "int64",
  uint: "int32",
  uint8: "byte",
  uint32: "int64",
  uint64: "int64",
};

describe("the schemas and KubeVirt v1.9.0", () => {
  const theirs = readDefinitions();

  test("have the same definitions", () => {
    const names = [...ours.keys()].filter((name) => !(name in variants || unlisted.has(name)));
    expect(names.sort()).toEqual([...theirs.keys()].filter((name) => !(name in scalars)).sort());
    for (const [name, type] of Object.entries(scalars)) expect(theirs.get(name)).toEqual([type]);
  });

  test.each([...ours.keys()].filter((name) => !unlisted.has(name)))(
    "have the same fields in %s",
    (name) => {
      expect(ours.get(name)).toEqual(theirs.get(variants[name] ?? name));
    },
  );

  test("know the same values where the list has them", () => {
    const text = recordedFacts("fields.txt");
    const enums = [...text.matchAll(/^ {2}(\w+): string.* enum=(\[.*\])$/gm)];
    expect(enums.length).toBeGreaterThan(10);
    const known = Object.entries(everything as Record<string, unknown>).flatMap(([name, values]) =>
      name.endsWith("Values") ? [JSON.stringify([...(values as string[])].sort())] : [],
    );
    for (const [, field, values = ""] of enums) {
      expect(known, field).toContain(JSON.stringify(JSON.parse(values)));
    }
  });
});

/** The published definitions by our names: a line per field, without its known values. */
function readDefinitions(): ReadonlyMap<string, readonly string[]> {
  return new Map(
    [...publishedDefinitions()].map(([name, fields]) => [
      shortName(name),
      fields.map((line) =>
        line
          .replace(/^= /, "")
          .replace(/ enum=.*$/, "")
          .replace(/[\w.]*\.[\w.]+/, shortName),
      ),
    ]),
  );
}

function shortName(name: string): string {
  return renamed[name] ?? name.split(".").at(-1) ?? name;
}

/** Our definitions in the format of KubeVirt's list. */
const ours: ReadonlyMap<string, readonly string[]> = (() => {
  const names = new Map<unknown, string>();
  for (const [name, node] of Object.entries(everything as Record<string, unknown>)) {
    if (name.endsWith("Schema")) names.set(identity(node as SchemaNode), name.slice(0, -6));
  }
  const definitions = new Map<string, string[]>();
  for (const [name, node] of Object.entries(everything as Record<string, unknown>)) {
    if (!name.endsWith("Schema")) continue;
    const { kind, fields = new Map() } = node as { kind: string; fields?: Map<string, FieldNode> };
    if (kind !== "object" && kind !== "any-object") continue;
    const lines = [...fields].map(([field, { schema, required }]) => {
      const list = schema.kind === "array" ? listText(schema) : "";
      return `${field}: ${typeText(schema, names)}${required ? " required" : ""}${list}`;
    });
    definitions.set(name.slice(0, -6), lines);
  }
  return definitions;
})();

/** What stays the same when rules are added to a schema. */
function identity(node: SchemaNode): unknown {
  return node.kind === "object" ? node.fields : node;
}

function listText({ listType, listMapKeys }: ArrayNode): string {
  if (!listType) return "";
  return ` list=${listType}${listMapKeys ? ` keys=${listMapKeys.join(",")}` : ""}`;
}

function typeText(node: SchemaNode, names: ReadonlyMap<unknown, string>): string {
  switch (node.kind) {
    case "string":
      return { "date-time": "Time", duration: "Duration", none: "string" }[node.format ?? "none"];
    case "integer":
      return `integer:${formats[node.format]}`;
    case "float":
      return "number:float";
    case "quantity":
      return "Quantity";
    case "int-or-string":
      return "string|number";
    case "nullable":
      return "string|null";
    case "array":
      return `[${typeText(node.items, names)}]`;
    case "map":
      return `map<${typeText(node.values, names)}>`;
    case "boolean":
      return "boolean";
    case "any-object":
    case "object":
      return names.get(identity(node)) ?? "?";
  }
}
