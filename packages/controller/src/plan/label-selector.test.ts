import { expect, test } from "vitest";
import { readRequirements, readSelector } from "./label-selector.ts";

test("writes a selector as the scale subresource shows it, sorted by key", () => {
  const selector = readSelector({
    matchLabels: { zone: "a", app: "x" },
    matchExpressions: [
      { key: "tier", operator: "In", values: ["web", "db"] },
      { key: "old", operator: "DoesNotExist" },
    ],
  });
  expect(selector?.text).toBe("app=x,!old,tier in (db,web),zone=a");
  expect(selector?.matches({ app: "x", zone: "a", tier: "db" })).toBe(true);
  expect(selector?.matches({ app: "x", zone: "a", tier: "db", old: "" })).toBe(false);
});

test("an empty selector selects everything, a missing one nothing", () => {
  expect(readSelector({})?.matches({})).toBe(true);
  expect(readSelector(undefined)?.matches({})).toBe(false);
});

test.each([
  { operator: "In", values: [] },
  { operator: "Exists", values: ["x"] },
  { operator: "Near", values: ["x"] },
  { operator: "Gt", values: ["many"] },
])("rejects $operator $values, as the API server does", ({ operator, values }) => {
  expect(readSelector({ matchExpressions: [{ key: "a", operator, values }] })).toBeUndefined();
});

test("compares numbers as numbers", () => {
  const selector = readRequirements([{ key: "cores", operator: "Gt", values: ["9"] }]);
  expect(["10", "9", "x", undefined].map((cores) => selector?.matches({ cores }))).toEqual([
    true,
    false,
    false,
    false,
  ]);
});
