import { expect, test } from "vitest";
import { readDecimal } from "./read-decimal.ts";

test.each([
  ["1.5", 1.5],
  ["+.5", 0.5],
  ["1.e2", 100],
  ["1_000.2_5e1_0", 1000.25e10],
])("%s is a number", (text, number) => {
  expect(readDecimal(text)).toBe(number);
});

test.each([
  undefined,
  "",
  "abc",
  "1_",
  "_1",
  "1__0",
  "1_.5",
  "1._5",
  "1_e2",
  "0x10",
  "inf",
  "1e400",
])("%s is not a number", (text) => {
  expect(readDecimal(text)).toBeUndefined();
});
