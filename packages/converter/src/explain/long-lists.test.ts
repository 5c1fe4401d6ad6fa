import type { SchemaNode } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { valueAt } from "./field-path.ts";
import { LongLists } from "./long-lists.ts";

const names = Array.from({ length: 33 }, (_, at) => `n${at}`);
const inputs = {
  vmi: {
    metadata: { list: names.map((name) => ({ name })) },
    disks: names.map((name) => ({ name, size: 1 })),
    few: [{ name: "n9" }, { name: "other" }],
    n3: { kept: true },
  },
  context: { known: { n1: 1, n9: 9, other: 0 } },
};
const schema: SchemaNode = { kind: "object", required: [], fields: new Map() };
const lists = new LongLists(inputs, { vmi: schema, context: schema });

test("names belong to items in long lists, and there are none if no list is long", () => {
  expect([...lists.names]).toEqual(names);
  const { metadata, disks } = inputs.vmi;
  expect(new LongLists({ vmi: { metadata, disks: disks.slice(1) } }, {}).names.size).toBe(0);
});

test("narrow inputs lack the other items everywhere", () => {
  expect(lists.only("n9", inputs).inputs).toEqual({
    vmi: {
      metadata: inputs.vmi.metadata,
      disks: [{ name: "n9", size: 1 }],
      few: [{ name: "n9" }, { name: "other" }],
      n3: { kept: true },
    },
    context: { known: { n9: 9, other: 0 } },
  });
});

test("a field of narrow inputs is found again in the complete ones", () => {
  const { wholePath, inputs: narrow } = lists.only("n19", inputs);
  const path = ["disks", 0, "size"];
  expect(valueAt(narrow["vmi"], path)).toBe(1);
  expect(wholePath("vmi", path)).toEqual(["disks", 19, "size"]);
  expect(wholePath("vmi", ["few", 0, "a", "b"])).toEqual(["few", 1, "a", "b"]);
});

test("a path belongs to an item if it leads into one, or to an entry of a map under its name", () => {
  expect(lists.isInItem("vmi", inputs.vmi, ["disks", 4, "size"])).toBe(true);
  expect(lists.isInItem("context", inputs.context, ["known", "n9"])).toBe(true);
  expect(lists.isInItem("context", inputs.context, ["known", "other"])).toBe(false);
  expect(lists.isInItem("vmi", inputs.vmi, ["n3", "kept"])).toBe(false);
  expect(lists.isInItem("vmi", inputs.vmi, ["disks"])).toBe(false);
});
