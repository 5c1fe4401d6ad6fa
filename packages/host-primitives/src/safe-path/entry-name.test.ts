import { expect, test } from "vitest";
import { entryName, splitPath } from "./entry-name.ts";

test.each(["", ".", "..", "a/b", "/", "a\0", "x".repeat(256)])(
  "rejects %j as a name of an entry",
  (name) => {
    expect(() => entryName(name)).toThrow(expect.objectContaining({ code: "HOST_PATH_UNSAFE" }));
  },
);

test.each(["a", "..data", "...", "a b", "é", "-rf"])("accepts %j as a name", (name) => {
  expect(entryName(name)).toBe(name);
});

test("splits a path into what is resolved and what is never followed", () => {
  expect(splitPath("/var/run/kubevirt/sock")).toEqual({ parent: "var/run/kubevirt", name: "sock" });
  expect(splitPath("a")).toEqual({ parent: ".", name: "a" });
  expect(splitPath("a//b")).toEqual({ parent: "a", name: "b" });
  expect(splitPath("a/../b")).toEqual({ parent: "a/..", name: "b" });
});

test.each(["", "/", "a/", "a/.", "a/..", "..", "a\0/b", `${"x/".repeat(2100)}y`])(
  "rejects %j: it is not a path, or the kernel would follow its end",
  (path) => {
    expect(() => splitPath(path)).toThrow(expect.objectContaining({ code: "HOST_PATH_UNSAFE" }));
  },
);
