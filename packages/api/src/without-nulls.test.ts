import { expect, test } from "vitest";
import { withoutNulls } from "./without-nulls.ts";

test("fields that are null go, everything else stays", () => {
  const value = { a: null, b: [{ c: null, d: 0 }, null], e: { f: { g: null } }, h: "" };
  const before = JSON.stringify(value);
  expect(withoutNulls(value)).toEqual({ b: [{ d: 0 }, null], e: { f: {} }, h: "" });
  expect(JSON.stringify(value)).toBe(before);
});

test("a value without nulls is returned as it is", () => {
  const value = { a: [1, { b: "c" }] };
  expect(withoutNulls(value)).toBe(value);
  const partly = { a: value, b: null };
  expect(withoutNulls(partly).a).toBe(value);
});
