import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../testing/temporary-directory.ts";
import { findContainerDisk, findKernelBootFile, kernelBootFiles } from "./container-disk.ts";

test("takes the only file in /disk, or the file at the path", async () => {
  const root = await temporaryDirectory();
  await root.fill({ "disk/any.img": "raw!", "custom/x.img": "other" });
  expect(await findContainerDisk(root.path)).toEqual({
    path: "/disk/any.img",
    info: { format: "raw", virtualSize: 4n },
  });
  expect(await findContainerDisk(root.path, "/custom/x.img")).toMatchObject({
    path: "/custom/x.img",
  });
});

test("resolves links inside the image", async () => {
  const root = await temporaryDirectory();
  await root.fill({
    "real/disk.img": "raw",
    "disk/d.img": "-> /real/disk.img",
    "usr/x": "-> ../../../real/disk.img",
  });
  expect(await findContainerDisk(root.path)).toMatchObject({ path: "/real/disk.img" });
  expect(await findContainerDisk(root.path, "/usr/x")).toMatchObject({ path: "/real/disk.img" });
});

test.each<[string, Record<string, string>, string | undefined, string]>([
  ["no disk", { "etc/x": "" }, undefined, "DISK_SOURCE_MISSING"],
  ["two disks", { "disk/a": "", "disk/b": "" }, undefined, "DISK_SOURCE_MISSING"],
  ["a path that does not exist", { "disk/a": "" }, "/nope", "DISK_SOURCE_MISSING"],
  ["a path that is a directory", { "disk/a": "" }, "/disk", "DISK_SOURCE_REFUSED"],
  ["a path through a file", { "disk/a": "" }, "/disk/a/b", "DISK_SOURCE_MISSING"],
  ["a link to the host's device", { "disk/a": "-> /dev/zero" }, undefined, "DISK_SOURCE_MISSING"],
  ["a link to itself", { "disk/a": "-> b", "disk/b": "-> a" }, "/disk/a", "DISK_SOURCE_REFUSED"],
])("rejects %s", async (_, files, path, code) => {
  const root = await temporaryDirectory();
  await root.fill(files);
  await expect(findContainerDisk(root.path, path)).rejects.toMatchObject({ code });
});

test("rejects a pipe without blocking", async () => {
  const root = await temporaryDirectory();
  await root.fill({ "disk/..keep/x": "" });
  execFileSync("mkfifo", [`${root.path}/pipe`]);
  await expect(findContainerDisk(root.path, "/pipe")).rejects.toMatchObject({
    code: "DISK_SOURCE_REFUSED",
  });
});

test("mounts kernel boot files beside each other, by their last name", async () => {
  const container = { image: "x", kernelPath: "/boot/vmlinuz", initrdPath: "/boot/initrd" };
  const vmi = (files: typeof container) => ({
    spec: { domain: { devices: {}, firmware: { kernelBoot: { container: files } } } },
  });
  const files = kernelBootFiles(vmi(container));
  expect(files).toEqual([
    {
      artifact: "kernel",
      source: "/boot/vmlinuz",
      target: "/var/run/kubevirt/container-disks/kernel-boot/vmlinuz",
    },
    {
      artifact: "initrd",
      source: "/boot/initrd",
      target: "/var/run/kubevirt/container-disks/kernel-boot/initrd",
    },
  ]);
  expect(kernelBootFiles({ spec: { domain: { devices: {} } } })).toEqual([]);
  expect(() => kernelBootFiles(vmi({ ...container, initrdPath: "/other/vmlinuz" }))).toThrow(
    /same name/,
  );
  expect(() => kernelBootFiles(vmi({ ...container, kernelPath: "/boot/" }))).toThrow(
    /name of a file/,
  );
  const root = await temporaryDirectory();
  await root.fill({ "boot/vmlinuz-6": "k", "boot/vmlinuz": "-> vmlinuz-6" });
  const [kernel, initrd] = files;
  if (!kernel || !initrd) throw new Error("no files");
  expect(await findKernelBootFile(root.path, kernel)).toBe("/boot/vmlinuz-6");
  await expect(findKernelBootFile(root.path, initrd)).rejects.toMatchObject({
    code: "DISK_SOURCE_MISSING",
  });
});
