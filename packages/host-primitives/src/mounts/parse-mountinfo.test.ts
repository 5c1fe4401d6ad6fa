import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseMountInfo } from "./parse-mountinfo.ts";

test("reads all fields of a line", () => {
  const line =
    "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 propagate_from:2 - ext3 /dev/root rw,errors=continue";
  expect(parseMountInfo(`${line}\n`)).toEqual([
    {
      id: 36,
      parentId: 35,
      major: 98,
      minor: 0,
      root: "/mnt1",
      mountPoint: "/mnt2",
      options: ["rw", "noatime"],
      optionalFields: ["master:1", "propagate_from:2"],
      fileSystemType: "ext3",
      source: "/dev/root",
      superOptions: ["rw", "errors=continue"],
    },
  ]);
});

test("decodes spaces, tabs, line feeds and backslashes in names", () => {
  const [mount] = parseMountInfo("1 0 0:1 / /a\\040b\\011c\\012d\\134e rw - tmpfs none rw");
  expect(mount?.mountPoint).toBe("/a b\tc\nd\\e");
});

test("does not take a dash as the source for the end of the optional fields", () => {
  const [mount] = parseMountInfo("1 0 0:1 / /x rw shared:1 - tmpfs - rw");
  expect(mount).toMatchObject({
    fileSystemType: "tmpfs",
    source: "-",
    optionalFields: ["shared:1"],
  });
});

test.each(["x", "1 0 8 / / rw - ext4 a rw", "1 0 8:1 / / rw"])("rejects %j", (line) => {
  expect(() => parseMountInfo(line)).toThrow(
    expect.objectContaining({ code: "HOST_FORMAT_INVALID" }),
  );
});

test("reads this kernel's own file", ({ skip }) => {
  skip(process.platform !== "linux", "only Linux has /proc");
  const mounts = parseMountInfo(readFileSync("/proc/self/mountinfo", "utf8"));
  expect(mounts.some(({ mountPoint }) => mountPoint === "/proc")).toBe(true);
});
