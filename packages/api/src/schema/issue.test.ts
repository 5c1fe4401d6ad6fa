import { expect, test } from "vitest";
import { describeValue, formatPath, quote } from "./issue.ts";

test.each([
  [[], "(root)"],
  [["spec", "volumes", 0, "name"], "spec.volumes[0].name"],
  [["metadata", "labels", "a/b"], 'metadata.labels["a/b"]'],
  [["", "x"], '[""].x'],
  [["__proto__"], "__proto__"],
  [[0, 1], "[0][1]"],
  [["a\nb"], '["a\\nb"]'],
])("the path %j is written %s", (path, text) => {
  expect(formatPath(path)).toBe(text);
});

test.each([
  [null, "null"],
  [[], "a list"],
  [{}, "an object"],
  ["a\n", 'the string "a\\n"'],
  [1.5, "the number 1.5"],
  [false, "false"],
  [undefined, "nothing"],
  [1n, "a bigint"],
])("%s is described as %s", (value, text) => {
  expect(describeValue(value)).toBe(text);
});

test("long text is cut", () => {
  expect(quote("x".repeat(81))).toBe(`"${"x".repeat(80)}..."`);
});
