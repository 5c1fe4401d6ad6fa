import { expect, test } from "vitest";
import { withSynced } from "./synced-keys.ts";

test.each([
  ["a key is set", ["a"], { a: "1", b: "2", "x/1": "old" }],
  ["a key that the source does not have is removed", ["b"], { "x/1": "old" }],
  ["a prefix stands for all its keys, on both sides", ["x/*"], { b: "2", "x/2": "new" }],
  ["a bare star and an empty pattern match nothing", ["*", ""], { b: "2", "x/1": "old" }],
])("%s", (_, patterns, expected) => {
  const source = { a: "1", "x/2": "new" };
  expect(withSynced({ b: "2", "x/1": "old" }, source, patterns)).toEqual(expected);
});
