import { expect, test } from "vitest";
import { baseName, guestDataFile, kernelBootFile } from "./paths.ts";

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
  expect(kernelBootFile("/etc/../boot/k")).toBe("/var/run/kubevirt/container-disks/kernel-boot/k");
  expect(kernelBootFile("/")).toBe("/var/run/kubevirt/container-disks/kernel-boot");
});

test("data of a guest without a namespace has an empty one in its path", () => {
  expect(guestDataFile("/x/disk-data", "ignition-data", { name: "n", namespace: null }, "f")).toBe(
    "/x/ignition-data//n/f",
  );
});

test("data of a guest is beside its overlays", () => {
  expect(guestDataFile("/x/disk-data", "ignition-data", { name: "n", namespace: "s" }, "f")).toBe(
    "/x/ignition-data/s/n/f",
  );
});
