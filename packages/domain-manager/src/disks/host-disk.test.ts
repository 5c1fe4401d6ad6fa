import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import type { HostDisk } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../testing/temporary-directory.ts";
import { createHostDisk, hostDiskSize, planHostDisks } from "./host-disk.ts";

const plan = (hostDisk: HostDisk) =>
  planHostDisks({ spec: { domain: { devices: {} }, volumes: [{ name: "v", hostDisk }] } });

test("plans only disks that may be created, in whole MiB", () => {
  expect(plan({ path: "/data/d.img", type: "DiskOrCreate", capacity: "1.9Mi" })).toEqual([
    {
      volume: "v",
      directory: "/var/run/kubevirt-private/vmi-disks/v",
      file: "d.img",
      size: 1n << 20n,
    },
  ]);
  expect(plan({ path: "/data/d.img", type: "Disk" })).toEqual([]);
  expect(() => plan({ path: "/data/..", type: "DiskOrCreate", capacity: "1Gi" })).toThrow(
    /name of a file/,
  );
  expect(() => plan({ path: "/data/d", type: "DiskOrCreate" })).toThrow(/at least 1Mi/);
});

test("tolerates a little less space than requested", () => {
  const mebibyte = 1n << 20n;
  expect(hostDiskSize(100n, 100n, 0)).toEqual({ kind: "fits", size: 100n });
  expect(hostDiskSize(100n * mebibyte, 95n * mebibyte + 5n, 10)).toEqual({
    kind: "shrunk",
    size: 95n * mebibyte,
  });
  expect(hostDiskSize(100n * mebibyte, 89n * mebibyte, 10)).toEqual({
    kind: "too-small",
    needed: 90n * mebibyte,
  });
  expect(hostDiskSize(100n, -5n, 100)).toMatchObject({ kind: "too-small" });
});

const step = { volume: "v", directory: "/disks/v", file: "disk.img", size: 1n << 20n };

test("creates a sparse disk once, and then leaves it alone", async () => {
  const root = await temporaryDirectory();
  await root.fill({ "disks/v/.keep": "" });
  const path = `${root.path}/disks/v/disk.img`;
  expect(await createHostDisk(step, { root: root.path })).toEqual({
    kind: "fits",
    size: 1n << 20n,
  });
  expect(await stat(path)).toMatchObject({ size: 1 << 20, blocks: 0 });
  await writeFile(path, "data");
  expect(await createHostDisk(step, { root: root.path })).toBe(undefined);
  expect(await readFile(path, "utf8")).toBe("data");
});

test("finishes what a killed process left", async () => {
  const root = await temporaryDirectory();
  await root.fill({ "disks/v/disk.img": "" });
  await createHostDisk(step, { root: root.path });
  expect((await stat(`${root.path}/disks/v/disk.img`)).size).toBe(1 << 20);
});

test("rejects an empty file of someone else and keeps its owner", async () => {
  const root = await temporaryDirectory();
  await root.fill({ "disks/v/disk.img": "" });
  const path = `${root.path}/disks/v/disk.img`;
  const { uid, mode } = await stat(path);
  const owner = { uid: uid + 1, gid: uid + 1 };
  await expect(createHostDisk(step, { root: root.path, owner })).rejects.toMatchObject({
    code: "DISK_TARGET_REFUSED",
    message: expect.stringContaining(`uid ${uid}`),
  });
  expect(await stat(path)).toMatchObject({ uid, mode, size: 0 });
});

test("a directory that is a link leads into the Pod, never out of it", async () => {
  const outside = await temporaryDirectory();
  await outside.fill({
    "host/.keep": "",
    "pod/host/.keep": "",
    "pod/disks/v": "-> ../../../../host",
  });
  await createHostDisk(step, { root: `${outside.path}/pod` });
  expect(await readdir(`${outside.path}/host`)).toEqual([".keep"]);
  expect(await readdir(`${outside.path}/pod/host`)).toEqual([".keep", "disk.img"]);
});

test.each([
  ["a link", { "disks/v/disk.img": "-> ../../victim", victim: "" }, "DISK_TARGET_REFUSED"],
  ["a directory", { "disks/v/disk.img/x": "" }, "DISK_TARGET_REFUSED"],
  ["no mount", { other: "" }, "DISK_SOURCE_MISSING"],
])("rejects %s in its place", async (_, files: Record<string, string>, code) => {
  const root = await temporaryDirectory();
  await root.fill(files);
  await expect(createHostDisk(step, { root: root.path })).rejects.toMatchObject({ code });
  if ("victim" in files) expect((await stat(`${root.path}/victim`)).size).toBe(0);
});

test("reports too little space before creating anything", async () => {
  const root = await temporaryDirectory();
  await root.fill({ "disks/v/.keep": "" });
  const reserve = 1n << 62n;
  await expect(createHostDisk(step, { root: root.path, reserve })).rejects.toMatchObject({
    code: "DISK_FULL",
  });
  expect(await readdir(`${root.path}/disks/v`)).toEqual([".keep"]);
});
