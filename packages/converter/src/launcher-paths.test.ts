import { names } from "@virtkit/api/names";
import { expect, test } from "vitest";
import { baseName, LauncherPaths } from "./launcher-paths.ts";

const paths = new LauncherPaths(names().directories);

test.each([
  ["/a/b.img", "b.img"],
  ["b.img", "b.img"],
  ["/a/b/", "b"],
  ["", "."],
  ["//", "/"],
])("the last part of %j is %j", (path, base) => {
  expect(baseName(path)).toBe(base);
});

test("a kernel's directory does not lead out of the container's", () => {
  expect(paths.kernelBootFile("/etc/../boot/k")).toBe(
    "/var/run/kubevirt/container-disks/kernel-boot/k",
  );
  expect(paths.kernelBootFile("/")).toBe("/var/run/kubevirt/container-disks/kernel-boot");
});

test("data of a guest without a namespace has an empty one in its path", () => {
  expect(
    paths.guestDataFile("/x/disk-data", "ignition-data", { name: "n", namespace: null }, "f"),
  ).toBe("/x/ignition-data//n/f");
});

test("data of a guest is beside its overlays", () => {
  expect(
    paths.guestDataFile("/x/disk-data", "ignition-data", { name: "n", namespace: "s" }, "f"),
  ).toBe("/x/ignition-data/s/n/f");
});
