import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../testing/host-fixtures.ts";
import {
  createFile,
  makeDirectory,
  makeNode,
  openRoot,
  overwriteFile,
  removeDirectory,
  removeFile,
  renameEntry,
  replaceFile,
} from "./index.ts";

const unsafe = expect.objectContaining({ code: "HOST_PATH_UNSAFE" });

test("creates, reads, chowns, restricts, renames and removes a file through handles", () => {
  using directory = temporaryDirectory();
  using root = openRoot(directory.path);
  using top = root.directory();
  using folder = makeDirectory(top, "a");
  createFile(folder, "f", "one", { mode: 0o640, owner: { uid: 107, gid: 108 } });
  using file = root.resolve("/a/f", "file");
  expect(file.stat()).toMatchObject({ type: "file", mode: 0o640, uid: 107, gid: 108, size: 3n });
  overwriteFile(file, "two!");
  expect(file.read().toString()).toBe("two!");
  file.chown(1, 2);
  file.chmod(0o400);
  expect(statSync(join(directory.path, "a/f"))).toMatchObject({ uid: 1, gid: 2 });
  renameEntry(folder, "f", top, "g");
  expect(file.read().toString()).toBe("two!");
  expect(top.list().sort()).toEqual(["a", "g"]);
  removeFile(top, "g");
  removeDirectory(top, "a");
  expect(top.list()).toEqual([]);
});

test("creates a device node with its numbers", () => {
  using directory = temporaryDirectory();
  using root = openRoot(directory.path);
  using top = root.directory();
  using node = makeNode(top, "null", { type: "char", device: { major: 1, minor: 3 }, mode: 0o666 });
  expect(node.stat()).toMatchObject({ type: "char", device: { major: 1, minor: 3 } });
  makeNode(top, "pipe", { type: "fifo" }).close();
  expect(() => makeNode(top, "null", { type: "fifo" })).toThrow(
    expect.objectContaining({ errno: "EEXIST" }),
  );
});

test("follows links among the parents as the container would", () => {
  using directory = temporaryDirectory();
  mkdirSync(join(directory.path, "run/kubevirt"), { recursive: true });
  mkdirSync(join(directory.path, "var"));
  symlinkSync("/run", join(directory.path, "var/run"));
  symlinkSync("../run/kubevirt", join(directory.path, "var/relative"));
  writeFileSync(join(directory.path, "run/kubevirt/info"), "inside");
  using root = openRoot(directory.path);
  for (const path of [
    "var/run/kubevirt/info",
    "var/relative/info",
    "var/../var/run/kubevirt/info",
  ]) {
    using file = root.resolve(path, "file");
    expect(file.read().toString()).toBe("inside");
  }
  using entry = root.locate("/var/run/kubevirt/new");
  createFile(entry.directory, entry.name, "x");
  expect(readFileSync(join(directory.path, "run/kubevirt/new"), "utf8")).toBe("x");
});

test("never accepts a link as the last component", () => {
  using directory = temporaryDirectory();
  writeFileSync(join(directory.path, "file"), "x");
  mkdirSync(join(directory.path, "folder"));
  symlinkSync("file", join(directory.path, "link"));
  symlinkSync("folder", join(directory.path, "folderlink"));
  using root = openRoot(directory.path);
  using top = root.directory();
  expect(() => root.resolve("link")).toThrow(unsafe);
  expect(() => root.resolve("folderlink", "directory")).toThrow(unsafe);
  expect(() => top.child("link")).toThrow(unsafe);
  expect(() => top.openEntry("link", 0, 0)).toThrow(expect.objectContaining({ errno: "ELOOP" }));
});

test("replaces a link in place of a file instead of following it", () => {
  using directory = temporaryDirectory();
  writeFileSync(join(directory.path, "secret"), "old");
  mkdirSync(join(directory.path, "pod"));
  symlinkSync("../secret", join(directory.path, "pod/cache"));
  using root = openRoot(join(directory.path, "pod"));
  using top = root.directory();
  expect(() => createFile(top, "cache", "new")).toThrow(
    expect.objectContaining({ errno: "EEXIST" }),
  );
  replaceFile(top, "cache", "new");
  expect(readFileSync(join(directory.path, "secret"), "utf8")).toBe("old");
  expect(readFileSync(join(directory.path, "pod/cache"), "utf8")).toBe("new");
  expect(top.list()).toEqual(["cache"]);
});

test("rejects content above the limit", () => {
  using directory = temporaryDirectory();
  for (const name of ["a", "b", "c"]) writeFileSync(join(directory.path, name), "12345");
  using root = openRoot(directory.path);
  using top = root.directory();
  using file = root.resolve("a");
  const over = expect.objectContaining({ code: "HOST_LIMIT_EXCEEDED" });
  expect(file.read({ maxBytes: 5 })).toHaveLength(5);
  expect(() => file.read({ maxBytes: 4 })).toThrow(over);
  expect(top.list({ maxEntries: 3 })).toHaveLength(3);
  expect(() => top.list({ maxEntries: 2 })).toThrow(over);
});

test("a handle keeps its object when the name is taken by another", () => {
  using directory = temporaryDirectory();
  writeFileSync(join(directory.path, "a"), "first");
  using root = openRoot(directory.path);
  using file = root.resolve("a", "file");
  using top = root.directory();
  replaceFile(top, "a", "second");
  chmodSync(join(directory.path, "a"), 0o644);
  appendFileSync(join(directory.path, "a"), "!");
  expect(file.read().toString()).toBe("first");
});

test("errors say what was touched, by which call, and what went wrong", () => {
  using directory = temporaryDirectory();
  using root = openRoot(directory.path);
  expect(() => root.resolve("absent/file")).toThrow(
    expect.objectContaining({
      code: "HOST_SYSCALL_FAILED",
      errno: "ENOENT",
      syscall: "openat2",
      path: `${directory.path}:absent/file`,
    }),
  );
  expect(() => openRoot("relative")).toThrow(
    expect.objectContaining({ code: "HOST_ARGUMENT_INVALID" }),
  );
  expect(() => openRoot("/proc/self/root")).toThrow(expect.objectContaining({ errno: "ELOOP" }));
});
