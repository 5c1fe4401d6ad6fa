import { quantityFrom } from "@virtkit/api/quantity";
import { describe, expect, test } from "vitest";
import { bytesOf, quantityAt, small } from "./byte-count.ts";

describe("bytesOf", () => {
  test.each([
    ["1Gi", 1073741824],
    ["1G", 1000000000],
    ["0", 0],
    // A fraction loses a byte, as in KubeVirt.
    ["1.5Gi", 1610612735],
    ["1000000000500m", 1000000000],
  ])("of %s is %d", (text, bytes) => {
    expect(bytesOf(quantityFrom(text), "p")).toBe(bytes);
  });

  test("is exact above 2^53", () => {
    expect(bytesOf(quantityFrom("9007199254740993"), "p")).toBe(9007199254740993n);
  });

  test("goes up to 63 bits", () => {
    expect(bytesOf(quantityFrom("9223372036854775808"), "p")).toBe(2n ** 63n - 1n);
    expect(() => bytesOf(quantityFrom("9223372036854775809"), "spec.x")).toThrow(
      /spec\.x: 9223372036854775809 is more than/,
    );
  });

  test("refuses a negative amount, with the path", () => {
    expect(() => bytesOf(quantityFrom("-1Gi"), "spec.x")).toThrow(/spec\.x: -1Gi is negative/);
  });
});

test("names the field of an invalid quantity", () => {
  expect(() => quantityAt("1Zi", "spec.x")).toThrow(expect.objectContaining({ path: "spec.x" }));
});

test("returns small amounts as numbers", () => {
  expect(small(5n)).toBe(5);
  expect(small(2n ** 60n)).toBe(2n ** 60n);
});
