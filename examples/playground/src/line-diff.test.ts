import { expect, test } from "vitest";
import { lineDiff } from "./line-diff.ts";

function diff(before: string, after: string): string {
  const signs = { both: " ", removed: "-", added: "+" };
  return lineDiff([...before], [...after], (line) => line)
    .map(({ side, line }) => `${signs[side]}${line}`)
    .join("");
}

test.each([
  ["", "", ""],
  ["abc", "abc", " a b c"],
  ["abc", "axc", " a-b+x c"],
  ["ab", "", "-a-b"],
  ["", "ab", "+a+b"],
  ["abcd", "bd", "-a b-c d"],
])("from %j to %j", (before, after, expected) => {
  expect(diff(before, after)).toBe(expected);
});
