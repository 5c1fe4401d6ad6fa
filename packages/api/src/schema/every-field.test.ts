import { fullObject } from "@virtkit/conformance/recorded";
import { describe, expect, test } from "vitest";
import { check } from "./check.ts";
import { checkObject } from "./check-object.ts";
import { schemaFor } from "./object-kinds.ts";
import type { FieldNode, SchemaNode } from "./schema.ts";

/** Kinds with the group and the name of their published definition. */
const kinds = {
  VirtualMachine: ["kubevirt.io/v1", "v1.VirtualMachine"],
  VirtualMachineInstance: ["kubevirt.io/v1", "v1.VirtualMachineInstance"],
  VirtualMachineInstanceMigration: ["kubevirt.io/v1", "v1.VirtualMachineInstanceMigration"],
  VirtualMachineInstanceReplicaSet: ["kubevirt.io/v1", "v1.VirtualMachineInstanceReplicaSet"],
  KubeVirt: ["kubevirt.io/v1", "v1.KubeVirt"],
  MigrationPolicy: ["migrations.kubevirt.io/v1alpha1", "v1alpha1.MigrationPolicy"],
  VirtualMachineInstancetype: [
    "instancetype.kubevirt.io/v1beta1",
    "v1beta1.VirtualMachineInstancetype",
  ],
  VirtualMachinePreference: [
    "instancetype.kubevirt.io/v1beta1",
    "v1beta1.VirtualMachinePreference",
  ],
} as const;

const objects = Object.entries(kinds).map(([kind, [apiVersion, definition]]) => {
  const object = { ...fullObject(definition), apiVersion, kind };
  return { kind, object, schema: schemaFor(object) as SchemaNode };
});

describe("an object with every field that KubeVirt publishes", () => {
  test.each(objects)("passes strict and is returned unchanged: $kind", ({ object }) => {
    const input = structuredClone(object);
    const result = checkObject(input, { strict: true });
    expect(result.issues).toEqual([]);
    expect(result.value).toBe(input);
    expect(result.value).toEqual(object);
    expect(JSON.stringify(result.value)).toBe(JSON.stringify(object));
  });

  test.each(objects)("an additional field is found anywhere: $kind", ({ object, schema }) => {
    const input = structuredClone(object);
    for (const [path, inner] of objectsOf(schema, input)) {
      inner["notAField"] = 1;
      expect(
        check(schema, input, { strict: true }).issues.map(({ code, path }) => [code, path]),
      ).toEqual([["unknown-field", [...path, "notAField"]]]);
      delete inner["notAField"];
    }
  });

  test.each(objects)("sets every field that the schema declares: $kind", ({ object, schema }) => {
    expect([...missingFields(schema, object, "")]).toEqual([]);
  });
});

type Json = Record<string, unknown>;

/** Every object in the value with known field names, and its path. */
function* objectsOf(
  node: SchemaNode,
  value: unknown,
  path: (string | number)[] = [],
): Generator<[(string | number)[], Json]> {
  if (node.kind === "object") {
    yield [path, value as Json];
    for (const [name, field] of node.fields) {
      const inner = (value as Json)[name];
      if (inner !== undefined) yield* objectsOf(field.schema, inner, [...path, name]);
    }
  } else if (node.kind === "array") {
    for (const [index, item] of (value as unknown[]).entries()) {
      yield* objectsOf(node.items, item, [...path, index]);
    }
  } else if (node.kind === "map") {
    for (const [key, item] of Object.entries(value as Json)) {
      yield* objectsOf(node.values, item, [...path, key]);
    }
  }
}

/** The declared fields that no object at the same place has, ignoring list indexes and keys. */
function* missingFields(node: SchemaNode, value: unknown, path: string): Generator<string> {
  if (node.kind === "array") yield* missingFields(node.items, (value as unknown[])[0], path);
  if (node.kind === "map") yield* missingFields(node.values, Object.values(value as Json)[0], path);
  if (node.kind !== "object") return;
  for (const [name, { schema }] of node.fields as ReadonlyMap<string, FieldNode>) {
    const inner = (value as Json)[name];
    const at = path === "" ? name : `${path}.${name}`;
    if (inner === undefined) yield at;
    else yield* missingFields(schema, inner, at);
  }
}
