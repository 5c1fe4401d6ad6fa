import { expect, test } from "vitest";
import { BackOff } from "./back-off.ts";

test("delays double up to the last, and start again after a long life", () => {
  const backOff = new BackOff(1, 5);
  expect([0, 0, 0, 0, 0].map((ran) => backOff.after(ran))).toEqual([1, 2, 4, 5, 5]);
  expect([5, 0].map((ran) => backOff.after(ran))).toEqual([1, 2]);
});
