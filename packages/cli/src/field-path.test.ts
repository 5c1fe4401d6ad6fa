import { formatPath } from "@virtkit/api/schema";
import fc from "fast-check";
import { expect, test } from "vitest";
import { fieldPath } from "./field-path.ts";

test.each([
  ["spec.domain.devices.disks[0].name", ["spec", "domain", "devices", "disks", 0, "name"]],
  ['metadata.labels["a.b/c"]', ["metadata", "labels", "a.b/c"]],
  ["metadata.annotations[a.b/c].x", ["metadata", "annotations", "a.b/c", "x"]],
  ["spec", ["spec"]],
  ["", []],
  ["a..b", ["a"]],
])("%s has the steps %j", (text, path) => {
  expect(fieldPath(text)).toEqual(path);
});

test("reads back written paths", () => {
  const name = fc.stringMatching(/^[A-Za-z][\w-]{0,10}$/);
  const key = fc.stringMatching(/^[a-z./"\\-]{1,10}$/);
  fc.assert(
    fc.property(name, fc.array(fc.oneof(name, key, fc.nat()), { maxLength: 6 }), (first, rest) => {
      expect(fieldPath(formatPath([first, ...rest]))).toEqual([first, ...rest]);
    }),
  );
});

test("any text has a path, in linear time", () => {
  fc.assert(fc.property(fc.string(), (text) => void fieldPath(text)));
  expect(fieldPath('["'.repeat(50_000)).length).toBeLessThan(50_001);
});
