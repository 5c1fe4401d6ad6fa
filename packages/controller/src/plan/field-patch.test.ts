import { expect, test } from "vitest";
import { fieldPatch, sameFields, valuePatch, versionTest } from "./field-patch.ts";

test("writes only fields that differ, and tests each first", () => {
  expect(fieldPatch("/status", { a: 1, b: [1], "c/d": 2 }, { a: 1, b: [2], e: 3 })).toEqual([
    { op: "test", path: "/status/b", value: [1] },
    { op: "replace", path: "/status/b", value: [2] },
    { op: "test", path: "/status/c~1d", value: 2 },
    { op: "remove", path: "/status/c~1d" },
    { op: "test", path: "/status/e", value: null },
    { op: "add", path: "/status/e", value: 3 },
  ]);
});

test("adds a missing object as a whole", () => {
  expect(fieldPatch("/status", undefined, { a: 1 })).toEqual([
    { op: "test", path: "/status", value: null },
    { op: "add", path: "/status", value: { a: 1 } },
  ]);
});

test("makes no patch for equal values", () => {
  expect(valuePatch("/a", { x: [1] }, { x: [1] })).toEqual([]);
  expect(valuePatch("/a", null, undefined)).toEqual([]);
});

test("tests the version that was read, if it is known", () => {
  const path = "/metadata/resourceVersion";
  expect(versionTest({ metadata: { resourceVersion: "7" } })).toEqual([
    { op: "test", path, value: "7" },
  ]);
  expect(versionTest({})).toEqual([]);
});

test("treats an empty field like a missing one", () => {
  expect(sameFields({ replicas: 0, paused: false, list: [] }, undefined)).toBe(true);
  expect(sameFields({ replicas: 1 }, {})).toBe(false);
});
