import { expect, test } from "vitest";
import { product32 } from "./product32.ts";

test.each([
  [3, 4, 12],
  [65536, 65535, 4294901760],
  [65536, 65536, 0],
  [2147483648, 3, 2147483648],
  [4294967295, 4294967295, 1],
])("%i times %i is %i", (a, b, product) => {
  expect(product32(a, b)).toBe(product);
});
