import { expect, test } from "vitest";
import { cpuMap } from "./cpu-map.ts";

test.each([
  ["0", [1]],
  ["0-3,^2", [0b1011]],
  ["8", [0, 1]],
  ["1, 9-10", [2, 6]],
])("%s", (list, bytes) => {
  expect([...cpuMap(list)]).toEqual(bytes);
});

test.each(["", "x", "3-1", "0-99999", "^0", "-1"])("rejects %j as a list of CPUs", (list) => {
  expect(() => cpuMap(list)).toThrow(expect.objectContaining({ code: "DOMAIN_ARGUMENT" }));
});
