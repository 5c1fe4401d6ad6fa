import { mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../testing/temporary-directory.ts";
import { writeImage, writeImageOnce } from "./write-image.ts";

const image = { size: 4096, extents: [{ offset: 1024, bytes: Buffer.from("content") }] };

test("writes an image with its size, holes and permissions", async () => {
  const directory = await temporaryDirectory();
  const path = `${directory.path}/a/b/disk.img`;
  await writeImage(path, image, { mode: 0o600 });
  const bytes = await readFile(path);
  expect(bytes.length).toBe(4096);
  expect(bytes.toString("latin1", 1024, 1031)).toBe("content");
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readdir(`${directory.path}/a/b`)).toEqual(["disk.img"]);
});

test("replaces what was there before, and what a killed process left", async () => {
  const directory = await temporaryDirectory();
  await directory.fill({ disk: "old", "disk.staging": "half" });
  await writeImage(`${directory.path}/disk`, image);
  expect((await readFile(`${directory.path}/disk`)).length).toBe(4096);
  expect(await readdir(directory.path)).toEqual(["disk"]);
});

test("replaces a link in its place instead of following it", async () => {
  const directory = await temporaryDirectory();
  await directory.fill({ victim: "precious", disk: "-> victim", "disk.staging": "-> victim" });
  await writeImage(`${directory.path}/disk`, image);
  expect(await readFile(`${directory.path}/victim`, "utf8")).toBe("precious");
});

test("keeps an existing disk, and rejects anything else in its place", async () => {
  const directory = await temporaryDirectory();
  const path = `${directory.path}/disk`;
  expect(await writeImageOnce(path, () => image)).toBe(true);
  await writeFile(path, "the guest's data");
  expect(await writeImageOnce(path, () => image)).toBe(false);
  expect(await readFile(path, "utf8")).toBe("the guest's data");
  await mkdir(`${directory.path}/folder`);
  await symlink(path, `${directory.path}/link`);
  for (const name of ["folder", "link"]) {
    await expect(writeImageOnce(`${directory.path}/${name}`, () => image)).rejects.toMatchObject({
      code: "DISK_TARGET_REFUSED",
    });
  }
});

test("an aborted caller leaves nothing behind", async () => {
  const directory = await temporaryDirectory();
  const path = `${directory.path}/disk`;
  await expect(writeImage(path, image, { signal: AbortSignal.abort() })).rejects.toMatchObject({
    code: "DISK_ABORTED",
  });
  expect(await readdir(directory.path)).toEqual([]);
});

test("the error names the file, the step and the reason", async () => {
  const directory = await temporaryDirectory();
  await directory.fill({ file: "" });
  const path = `${directory.path}/file/disk`;
  await expect(writeImage(path, image)).rejects.toThrow(`${path}: cannot write: E`);
});
