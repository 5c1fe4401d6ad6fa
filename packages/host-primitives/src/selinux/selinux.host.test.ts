import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openRoot } from "../safe-path/index.ts";
import { temporaryDirectory } from "../testing/host-fixtures.ts";
import {
  formatSelinuxContext,
  readLabel,
  selinuxState,
  setLabel,
  unprivilegedFileContext,
} from "./index.ts";

test("with SELinux off, labels nothing and says so in the result", () => {
  using directory = temporaryDirectory();
  using root = openRoot(directory.path);
  using path = root.directory();
  expect(selinuxState()).toBe("disabled");
  expect(setLabel(path, unprivilegedFileContext)).toBe("selinux-disabled");
  expect(readLabel(path)).toBeUndefined();
});

test("labels exactly the opened object", () => {
  using directory = temporaryDirectory();
  writeFileSync(join(directory.path, "file"), "");
  symlinkSync("file", join(directory.path, "link"));
  using root = openRoot(directory.path);
  using file = root.resolve("file", "file");
  // The kernel keeps the attribute for root even while SELinux is off.
  expect(setLabel(file, unprivilegedFileContext, "permissive")).toBe("set");
  expect(readLabel(file)).toEqual(unprivilegedFileContext);
  expect(file.getAttribute("security.selinux")?.toString("latin1")).toBe(
    `${formatSelinuxContext(unprivilegedFileContext)}\0`,
  );
  expect(() => root.resolve("link")).toThrow(expect.objectContaining({ code: "HOST_PATH_UNSAFE" }));
});

test("a file system without labels is an error only if they are enforced", () => {
  using proc = openRoot("/proc");
  using file = proc.resolve("version", "file");
  expect(setLabel(file, unprivilegedFileContext, "permissive")).toBe("not-supported");
  expect(() => setLabel(file, unprivilegedFileContext, "enforcing")).toThrow(
    expect.objectContaining({ errno: "EOPNOTSUPP", syscall: "setxattr" }),
  );
});
