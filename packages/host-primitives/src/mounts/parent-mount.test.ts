import { expect, test } from "vitest";
import { type ComparableMount, mayContainMount, parentMount } from "./parent-mount.ts";

const mount = (changes: Partial<ComparableMount> = {}): ComparableMount => ({
  major: 8,
  minor: 1,
  root: "/",
  mountPoint: "/",
  fileSystemType: "ext4",
  source: "/dev/sda1",
  ...changes,
});

test("a mount of another device does not match", () => {
  expect(mayContainMount(mount(), mount())).toBe(true);
  expect(mayContainMount(mount(), mount({ major: 9 }))).toBe(false);
  expect(mayContainMount(mount(), mount({ minor: 2 }))).toBe(false);
});

test("the candidate's root must contain the container's", () => {
  expect(mayContainMount(mount({ root: "/a/b" }), mount({ root: "/a" }))).toBe(true);
  expect(mayContainMount(mount({ root: "/a" }), mount({ root: "/a/b" }))).toBe(false);
});

test("distinguishes two exports of a server with the same device number by their source", () => {
  const nfs = mount({ fileSystemType: "nfs4", source: "s:/x" });
  expect(mayContainMount(nfs, nfs, { source: "s:/x" })).toBe(true);
  expect(mayContainMount(nfs, nfs, { source: "s:/y" })).toBe(false);
  expect(mayContainMount(mount(), nfs, { source: "s:/y" })).toBe(true);
});

test.each([
  ["/var/lib/kubelet/pods/u1/volumes/v", true],
  ["/var/lib/kubelet/pods/u2/volumes/v", false],
  ["/var/lib/kubelet/pods/u1", false],
  ["/var/lib/kubelet/pods//u1/./volumes/v/", true],
  ["/var/lib/kubelet/podsx/u2/v", true],
  ["/mnt/data", true],
])("the kubelet's mount %s may belong to Pod u1: %s", (mountPoint, may) => {
  const hints = { podUid: "u1", kubeletPodsDirectory: "/var/lib/kubelet/pods/" };
  expect(mayContainMount(mount(), mount({ mountPoint }), hints)).toBe(may);
});

test("takes the candidate with the longest root", () => {
  const candidates = ["/", "/a", "/a/b"].map((root) => mount({ root, mountPoint: `/at${root}` }));
  const found = parentMount(mount({ root: "/a/b/c" }), candidates);
  expect(found).toEqual({ mount: candidates[2], relativePath: "c" });
});

test("a root that only begins with the same letters does not contain the other", () => {
  expect(parentMount(mount({ root: "/ab" }), [mount({ root: "/a" })])).toBeUndefined();
});
