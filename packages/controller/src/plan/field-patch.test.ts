import { expect, test } from "vitest";
import { fieldPatch, sameFields, valuePatch, versionTest } from "./field-patch.ts";

test("only fields that differ are written, each tested first", () => {
  expect(fieldPatch("/status", { a: 1, b: [1], "c/d": 2 }, { a: 1, b: [2], e: 3 })).toEqual([
    { op: "test", path: "/status/b", value: [1] },
    { op: "replace", path: "/status/b", value: [2] },
    { op: "test", path: "/status/c~1d", value: 2 },
    { op: "remove", path: "/status/c~1d" },
    { op: "test", path: "/status/e", value: null },
    { op: "add", path: "/status/e", value: 3 },
  ]);
});

test("an object that is not there is added whole", () => {
  expect(fieldPatch("/status", undefined, { a: 1 })).toEqual([
    { op: "test", path: "/status", value: null },
    { op: "add", path: "/status", value: { a: 1 } },
  ]);
});

test("equal values need no patch", () => {
  expect(valuePatch("/a", { x: [1] }, { x: [1] })).toEqual([]);
  expect(valuePatch("/a", null, undefined)).toEqual([]);
});

test("the version that was read is demanded if it is known", () => {
  const path = "/metadata/resourceVersion";
  expect(versionTest({ metadata: { resourceVersion: "7" } })).toEqual([
    { op: "test", path, value: "7" },
  ]);
  expect(versionTest({})).toEqual([]);
});

test("a field that says nothing is as good as none", () => {
  expect(sameFields({ replicas: 0, paused: false, list: [] }, undefined)).toBe(true);
  expect(sameFields({ replicas: 1 }, {})).toBe(false);
});
