import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { check } from "./check.ts";
import { checkObject } from "./check-object.ts";
import { schemaFor } from "./object-kinds.ts";
import type { FieldNode, SchemaNode } from "./schema.ts";

/** Objects of KubeVirt's with every field set; beside the recorded answers. */
const oracle = process.env["VIRTKIT_ORACLE_DIR"];
const folder = oracle && join(oracle, "../reference/kubevirt-api-fixtures");
const isThere = folder !== undefined && existsSync(folder);

const fixtures = isThere ? readdirSync(folder).filter((name) => name.endsWith(".json")) : [];
const read = (name: string): string => readFileSync(join(folder ?? "", name), "utf8");

/** Declared fields that the fixtures leave out. */
const absent = ["spec.dataVolumeTemplates.apiVersion", "spec.dataVolumeTemplates.kind"];

describe("KubeVirt's own objects", () => {
  beforeEach(({ skip }) => skip(!isThere, "VIRTKIT_ORACLE_DIR is not set"));

  test.each(fixtures)("%s passes strict and comes back as it was", (name) => {
    const input: unknown = JSON.parse(read(name));
    const result = checkObject(input, { strict: true });
    expect(result.issues).toEqual([]);
    expect(result.value).toBe(input);
    expect(result.value).toEqual(JSON.parse(read(name)));
    expect(JSON.stringify(result.value)).toBe(JSON.stringify(JSON.parse(read(name))));
  });

  test.each(fixtures)("%s: one more field anywhere is found", (name) => {
    const input = JSON.parse(read(name));
    const schema = schemaFor(input);
    if (!schema) throw new Error(`no schema for ${name}`);
    let objects = 0;
    for (const [path, object] of objectsOf(schema, input)) {
      object["notAField"] = 1;
      expect(
        check(schema, input, { strict: true }).issues.map(({ code, path }) => [code, path]),
      ).toEqual([["unknown-field", [...path, "notAField"]]]);
      delete object["notAField"];
      objects++;
    }
    expect(objects).toBeGreaterThan(100);
  });

  test("set every field that the schemas declare, but for those listed", () => {
    const missing = fixtures.flatMap((name) => {
      const input = JSON.parse(read(name));
      const schema = schemaFor(input);
      return schema ? [...missingFields(schema, input, "")] : [];
    });
    expect([...new Set(missing)].sort()).toEqual(absent);
  });
});

type Json = Record<string, unknown>;

/** Every object of the value that has fields known by name, and its path. */
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

/** The declared fields that no object at the same place has, list indexes and keys left out. */
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
