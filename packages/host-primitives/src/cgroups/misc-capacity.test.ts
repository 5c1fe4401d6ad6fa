import { expect, test } from "vitest";
import { miscCapacity } from "./misc-capacity.ts";

test("finds the resource's line among others", () => {
  expect(miscCapacity("sev 10\nsev_es 99\ntdx  31 \n", "tdx")).toBe(31);
  expect(miscCapacity("tdx\ntdx 1 2\ntdx 3\n", "tdx")).toBe(3);
});

test.each(["", "sev_es 5\n", "sev max\n", "sev 1.5\n", "sev 99999999999999999999\n"])(
  "finds no capacity of sev in %j",
  (content) => {
    expect(() => miscCapacity(content, "sev")).toThrow(expect.objectContaining({ path: "sev" }));
  },
);
