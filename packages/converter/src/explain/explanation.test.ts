import { expect, test } from "vitest";
import { type ExplainedNode, nodesAt, nodesFrom } from "./explanation.ts";

const step = { kind: "rule", name: "r", summary: "R." } as const;

function node(path: string, ...fields: string[]): ExplainedNode {
  const sources = fields.map((field) => ({ kind: "field", path: field, because: "" }) as const);
  return { path, kind: "element", name: path, value: undefined, sources, step };
}

const nodes = [
  node("devices.disk[0].@type", "spec.volumes[0]"),
  node("devices.disk[1].driver.@type", 'metadata.annotations["a.b/c"]'),
  node("devices.diskette", "spec.volumesX"),
  node("@type"),
];

function paths(found: readonly ExplainedNode[]): string[] {
  return found.map(({ path }) => path);
}

test("a path finds what is at it and below it, for all items if it names none", () => {
  expect(paths(nodesAt(nodes, "devices.disk"))).toEqual([
    "devices.disk[0].@type",
    "devices.disk[1].driver.@type",
  ]);
  expect(paths(nodesAt(nodes, "devices.disk[1]"))).toEqual(["devices.disk[1].driver.@type"]);
  expect(paths(nodesAt(nodes, "devices.disk.driver.type"))).toHaveLength(1);
  expect(paths(nodesAt(nodes, "domain.@type"))).toEqual(["@type"]);
  expect(nodesAt(nodes, "domain")).toHaveLength(nodes.length);
  expect(nodesAt(nodes, "devices.disk[2]")).toEqual([]);
});

test("a field finds what follows from it and from those within it, including keys with dots", () => {
  expect(paths(nodesFrom(nodes, "spec.volumes"))).toEqual(["devices.disk[0].@type"]);
  expect(paths(nodesFrom(nodes, 'metadata.annotations["a.b/c"]'))).toHaveLength(1);
  expect(paths(nodesFrom(nodes, "metadata"))).toHaveLength(1);
  expect(nodesFrom(nodes, "status")).toEqual([]);
});
