import { expect, test } from "vitest";
import { currentMemory } from "./current-memory.ts";

test.each([
  ["b", 1_073_741_824, "1Gi"],
  ["bytes", 1_000_000, "1000000"],
  ["k", 2048, "2Mi"],
  ["KiB", 1536, "1536Ki"],
  ["KB", 1500, "1500k"],
  ["M", 1024, "1Gi"],
  ["MB", 1000, "1G"],
  ["G", 3, "3Gi"],
  ["GB", 3, "3G"],
  ["T", 1, "1Ti"],
  ["TB", 1, "1T"],
])("memory in %s has the quantity that KubeVirt writes", (unit, value, quantity) => {
  expect(currentMemory({ value, unit })).toBe(quantity);
});

test.each(["K", "kib", "", "constructor"])(
  "a unit that KubeVirt does not know is unknown: %o",
  (unit) => {
    expect(currentMemory({ value: 3, unit })).toBeUndefined();
  },
);

test.each([1.5, Number.NaN, Number.POSITIVE_INFINITY])("%d is not an amount of memory", (value) => {
  expect(currentMemory({ value, unit: "KiB" })).toBeUndefined();
});
