import { expect, test } from "vitest";
import { parseMountInfo } from "../mounts/parse-mountinfo.ts";
import {
  cgroupLayout,
  cgroupPath,
  cgroupPlace,
  managedCgroupPath,
  unifiedPlace,
} from "./cgroup-layout.ts";
import { parseProcCgroup } from "./parse-proc-cgroup.ts";

const v1 = `30 20 0:26 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct
31 20 0:27 / /sys/fs/cgroup/devices rw - cgroup cgroup rw,devices
32 20 0:28 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,release_agent=/x,name=systemd
`;
const v2 = "40 20 0:29 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
const beside = "40 20 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
const layoutOf = (text: string) => cgroupLayout(parseMountInfo(text));

test("finds the layout from the mounts", () => {
  expect(layoutOf(v1)).toEqual({
    mode: "v1",
    controllers: {
      cpu: "/sys/fs/cgroup/cpu,cpuacct",
      cpuacct: "/sys/fs/cgroup/cpu,cpuacct",
      devices: "/sys/fs/cgroup/devices",
      "name=systemd": "/sys/fs/cgroup/systemd",
    },
  });
  expect(layoutOf(v2)).toEqual({ mode: "v2", unified: "/sys/fs/cgroup", controllers: {} });
  expect(layoutOf(v1 + beside)).toMatchObject({
    mode: "hybrid",
    unified: "/sys/fs/cgroup/unified",
  });
});

test("does not mistake a bind mount of a container's cgroup for a hierarchy", () => {
  const bound = "50 20 0:27 /kubepods/x /mnt/devices rw - cgroup cgroup rw,devices\n";
  expect(layoutOf(bound + v1).controllers["devices"]).toBe("/sys/fs/cgroup/devices");
});

test("rejects a host without cgroups", () => {
  expect(() => layoutOf("")).toThrow(expect.objectContaining({ code: "HOST_UNSUPPORTED" }));
});

const membership = parseProcCgroup("5:devices:/kubepods/p1\n2:cpu,cpuacct:/kubepods/p1:x\n0::/u\n");

test("finds the place of each controller, with v2 for those that v1 lacks", () => {
  const layout = layoutOf(v1 + beside);
  expect(cgroupPlace(layout, membership, "devices")).toEqual({
    version: 1,
    root: "/sys/fs/cgroup/devices",
    path: "/kubepods/p1",
  });
  expect(cgroupPlace(layout, membership, "cpu")?.path).toBe("/kubepods/p1:x");
  expect(cgroupPlace(layout, membership, "hugetlb")).toEqual({
    version: 2,
    root: "/sys/fs/cgroup/unified",
    path: "/u",
  });
  expect(unifiedPlace(layoutOf(v1), membership)).toBeUndefined();
});

test.each(["/../../etc", "/a/../b", "relative", "", "/a/./b", "/a\0b"])(
  "rejects %j, which leaves the hierarchy",
  (path) => {
    expect(() => cgroupPath(path)).toThrow(expect.objectContaining({ code: "HOST_PATH_UNSAFE" }));
  },
);

test("keeps a plain path", () => {
  expect(cgroupPath("/")).toBe("/");
  expect(cgroupPath("/kubepods.slice//x.scope/")).toBe("/kubepods.slice/x.scope");
});

test.each([
  ["/kubepods/pod1/ctr", "/kubepods/pod1/ctr"],
  ["/kubepods/pod1/ctr/housekeeping", "/kubepods/pod1/ctr/"],
  ["/kubepods/housekeeping/", "/kubepods/housekeeping/"],
  ["a/b/housekeeping", "/b/"],
  ["housekeeping", "//"],
  ["", ""],
])("the cgroup to manage for a task in %j is %j", (path, managed) => {
  expect(managedCgroupPath(path)).toBe(managed);
});

test("rejects a malformed line of /proc/<pid>/cgroup", () => {
  expect(() => parseProcCgroup("x\n")).toThrow(
    expect.objectContaining({ code: "HOST_FORMAT_INVALID" }),
  );
});
