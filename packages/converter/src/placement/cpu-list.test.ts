import { expect, test } from "vitest";
import { parseCpuList } from "./cpu-list.ts";

test.each([
  ["3", [3]],
  ["0-2,8", [0, 1, 2, 8]],
  ["5-4", []],
  ["-1", [-1]],
])("%j is %j", (text, expected) => {
  expect(parseCpuList(text)).toEqual(expected);
});

test.each(["", "a", "1,", "1-x", "0-99999999"])("%j is not a list", (text) => {
  expect(parseCpuList(text)).toBeUndefined();
});
