import { expect, test } from "vitest";
import { directoryOf } from "./directory-of.ts";

test.each([
  ["/data/disk.img", "/data"],
  ["/disk.img", "/"],
  ["/a//b/./c.img", "/a/b"],
  ["/a/../../b/c.img", "/b"],
  ["/a/b/", "/a/b"],
  ["disk.img", "."],
  ["a/disk.img", "a"],
  ["../../disk.img", "../.."],
  ["a/../disk.img", "."],
])("the directory of %s is %s", (path, directory) => {
  expect(directoryOf(path)).toBe(directory);
});
