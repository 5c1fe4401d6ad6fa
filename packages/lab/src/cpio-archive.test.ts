import { expect, test } from "vitest";
import { cpioArchive } from "./cpio-archive.ts";

test("an archive holds name, mode and content of each entry, padded to four bytes, and a trailer", () => {
  const archive = cpioArchive([
    { path: "bin", kind: "directory" },
    { path: "init", kind: "file", mode: 0o700, data: "hello" },
    { path: "bin/sh", kind: "symlink", data: "busybox" },
  ]).toString("latin1");
  const heads = [...archive.matchAll(/070701(.{104})([^\0]+)\0/g)].map(([, fields = "", name]) => ({
    name,
    mode: Number.parseInt(fields.slice(8, 16), 16).toString(8),
    size: Number.parseInt(fields.slice(48, 56), 16),
  }));
  expect(heads).toEqual([
    { name: "bin", mode: "40755", size: 0 },
    { name: "init", mode: "100700", size: 5 },
    { name: "bin/sh", mode: "120755", size: 7 },
    { name: "TRAILER!!!", mode: "0", size: 0 },
  ]);
  expect(archive.length % 4).toBe(0);
  expect(archive).toContain("hello\0\0\u0000070701");
});
