import fc from "fast-check";
import { expect, test } from "vitest";
import { deterministicName } from "./deterministic-name.ts";

test("the same parts give the same name, and different parts a different one", () => {
  expect(deterministicName("launcher", "vm", "uid")).toBe(
    deterministicName("launcher", "vm", "uid"),
  );
  const names = [["ab", "c"], ["a", "bc"], ["abc"], ["abc", ""]].map((parts) =>
    deterministicName("x", ...parts),
  );
  expect(new Set(names).size).toBe(4);
});

test("any parts give a valid DNS label", () => {
  fc.assert(
    fc.property(fc.string(), fc.array(fc.string()), (prefix, parts) => {
      expect(deterministicName(prefix, ...parts)).toMatch(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);
    }),
  );
  expect(deterministicName("a".repeat(300))).toHaveLength(63);
});
