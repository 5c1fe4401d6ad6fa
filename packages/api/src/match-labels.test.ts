import { expect, test } from "vitest";
import { matchesSelector } from "./match-labels.ts";
import type { LabelSelector } from "./schema/index.ts";

const expression = (key: string, operator: string, ...values: string[]): LabelSelector => ({
  matchExpressions: [{ key, operator, ...(values.length > 0 ? { values } : {}) }],
});

test.each<[LabelSelector, boolean]>([
  [{}, true],
  [{ matchLabels: { a: "1" } }, true],
  [{ matchLabels: { a: "2" } }, false],
  [{ matchLabels: { toString: "1" } }, false],
  [expression("a", "In", "0", "1"), true],
  [expression("b", "In", "1"), false],
  [expression("a", "In"), false],
  [expression("a", "NotIn", "2"), true],
  [expression("b", "NotIn", "2"), true],
  [expression("a", "NotIn", "1"), false],
  [expression("a", "NotIn"), false],
  [expression("a", "Exists"), true],
  [expression("b", "Exists"), false],
  [expression("a", "Exists", "1"), false],
  [expression("b", "DoesNotExist"), true],
  [expression("a", "DoesNotExist"), false],
  [expression("a", "Near"), false],
])("%j on the label a=1: %s", (selector, matches) => {
  expect(matchesSelector(selector, { a: "1" })).toBe(matches);
});
