import { expect, test } from "vitest";
import { mapPatch } from "./map-patch.ts";

const path = ["metadata", "labels"];

test("sets and removes keys one by one", () => {
  expect(mapPatch(path, { a: "1", b: "2" }, { a: "1", "x.io/c": "3" })).toEqual([
    { op: "add", path: "/metadata/labels/x.io~1c", value: "3" },
    { op: "remove", path: "/metadata/labels/b" },
  ]);
});

test("adds a missing map as a whole", () => {
  const operation = { op: "add", path: "/metadata/labels", value: { a: "" } };
  expect(mapPatch(path, undefined, { a: "" })).toEqual([operation]);
});

test("writes nothing for equal maps", () => {
  expect(mapPatch(path, { a: "1" }, { a: "1" })).toEqual([]);
  expect(mapPatch(path, undefined, {})).toEqual([]);
});
