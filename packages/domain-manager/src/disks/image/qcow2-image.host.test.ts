import { readdir, readFile, writeFile } from "node:fs/promises";
import { runProgram } from "@virtkit/lab";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../testing/temporary-directory.ts";
import { isRegularFile, writeImage, writeImageOnce } from "../files/write-image.ts";
import { qcow2Image } from "./qcow2-image.ts";
import { readImageInfo } from "./read-image-info.ts";

async function qemuInfo(path: string): Promise<Record<string, unknown>> {
  return JSON.parse(await runProgram("qemu-img", ["info", "--output=json", path]));
}

test.each([1n << 20n, 10n << 30n, (5n << 40n) + 512n])(
  "qemu-img finds no fault in a disk of %d bytes",
  async (size) => {
    const directory = await temporaryDirectory();
    const path = `${directory.path}/disk.qcow2`;
    await writeImage(path, qcow2Image(size));
    const check = JSON.parse(await runProgram("qemu-img", ["check", "--output=json", path]));
    expect(check).toMatchObject({ "check-errors": 0 });
    expect(check).not.toHaveProperty("leaks");
    expect(check).not.toHaveProperty("corruptions");
    expect(await qemuInfo(path)).toMatchObject({ format: "qcow2", "virtual-size": Number(size) });
    const end = String(size - 512n);
    await runProgram("qemu-io", [
      "-c",
      `write -P 7 ${end} 512`,
      "-c",
      `read -P 7 ${end} 512`,
      path,
    ]);
    await runProgram("qemu-img", ["check", path]);
  },
);

test.each(["raw", "qcow2"] as const)(
  "an overlay on a %s image reads like the image",
  async (format) => {
    const directory = await temporaryDirectory();
    const base = `${directory.path}/base, with "odd" name=1.img`;
    const overlay = `${directory.path}/overlay.qcow2`;
    await runProgram("qemu-img", ["create", "-q", "-f", format, base, "5M"]);
    await runProgram("qemu-io", ["-f", format, "-c", "write -P 9 1M 64k", base]);
    const info = await readImageInfo(base);
    expect(info).toEqual({ format, virtualSize: 5n << 20n });
    await writeImage(overlay, qcow2Image(info.virtualSize, { path: base, format }));
    expect(await qemuInfo(overlay)).toMatchObject({
      "backing-filename": base,
      "backing-filename-format": format,
      "virtual-size": 5 << 20,
    });
    await runProgram("qemu-img", ["compare", "-F", format, overlay, base]);
    await runProgram("qemu-img", ["check", overlay]);
  },
);

test("recognizes and rejects images of qemu-img in other formats", async () => {
  const directory = await temporaryDirectory();
  for (const format of ["vmdk", "vhdx", "vdi", "vpc", "qed", "parallels"]) {
    const path = `${directory.path}/${format}`;
    await runProgram("qemu-img", ["create", "-q", "-f", format, path, "4M"]);
    await expect(readImageInfo(path)).rejects.toThrow(`format ${format} is not accepted`);
  }
});

test("rejects images of qemu-img that name other files", async () => {
  const directory = await temporaryDirectory();
  const base = `${directory.path}/base`;
  await runProgram("qemu-img", ["create", "-q", "-f", "raw", base, "1M"]);
  const [backed, external] = [`${directory.path}/backed`, `${directory.path}/external`];
  await runProgram("qemu-img", ["create", "-q", "-f", "qcow2", "-b", base, "-F", "raw", backed]);
  const options = `data_file=${directory.path}/data,data_file_raw=on`;
  await runProgram("qemu-img", ["create", "-q", "-f", "qcow2", "-o", options, external, "1M"]);
  await expect(readImageInfo(backed)).rejects.toThrow("backing file");
  await expect(readImageInfo(external)).rejects.toThrow("another file");
});

test("takes the size of a block device from the kernel, and rejects a character device", async () => {
  const directory = await temporaryDirectory();
  const file = `${directory.path}/file`;
  await writeFile(file, Buffer.alloc(3 << 20));
  const device = (await runProgram("losetup", ["--find", "--show", file])).trim();
  try {
    expect(await readImageInfo(device)).toEqual({ format: "raw", virtualSize: 3n << 20n });
  } finally {
    await runProgram("losetup", ["-d", device]);
  }
  await expect(readImageInfo("/dev/zero")).rejects.toMatchObject({ code: "DISK_SOURCE_REFUSED" });
});

test("a full disk during the creation of an overlay is a clear error and leaves nothing incomplete", async () => {
  const directory = await temporaryDirectory();
  await runProgram("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", directory.path]);
  try {
    const path = `${directory.path}/disk.qcow2`;
    await writeFile(`${directory.path}/other`, Buffer.alloc(8 << 10));
    const make = async () => await writeImageOnce(path, () => qcow2Image(1n << 30n));
    await expect(make()).rejects.toMatchObject({ code: "DISK_FULL", path });
    await expect(make()).rejects.toThrow(/no space is left there, free some/);
    expect(await readdir(directory.path)).toEqual(["other"]);
    await runProgram("mount", ["-o", "remount,size=1m", directory.path]);
    expect(await make()).toBe(true);
    expect(await isRegularFile(path)).toBe(true);
    expect((await readFile(path)).length).toBe(4 << 16);
  } finally {
    await runProgram("umount", [directory.path]);
  }
});
