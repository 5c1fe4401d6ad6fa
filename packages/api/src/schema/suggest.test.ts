import { expect, test } from "vitest";
import { suggest } from "./suggest.ts";

const fields = ["bootOrder", "cpu", "disk", "memory", "name"];

test.each([
  ["bootorder", "bootOrder"],
  ["memroy", "memory"],
  ["mem", undefined],
  ["cpus", "cpu"],
  ["disks", "disk"],
  ["nme", "name"],
  ["a", undefined],
  ["__proto__", undefined],
  ["m".repeat(1_000_000), undefined],
])("%s: %s", (name, meant) => {
  expect(suggest(name, fields)).toBe(meant);
});
