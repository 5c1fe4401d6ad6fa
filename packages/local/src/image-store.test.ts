import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { fileName, findImage } from "./image-store.ts";

async function folderWith(file: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "virtkit-images-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, file), "");
  return folder;
}

test("the caller decides what an image is", async () => {
  const folder = await folderWith("mine.img");
  const images = { "quay.io/a/b:1": join(folder, "mine.img") };
  expect(await findImage("quay.io/a/b:1", { images, folder })).toBe(join(folder, "mine.img"));
});

test("finds an image in the folder by its name", async () => {
  const folder = await folderWith("quay.io_a_b_1.qcow2");
  expect(await findImage("quay.io/a/b:1", { folder })).toBe(join(folder, "quay.io_a_b_1.qcow2"));
});

test("the error for a missing image says what to provide", async () => {
  await expect(findImage("quay.io/a/b:1", { folder: "/images" })).rejects.toMatchObject({
    code: "AGENT_SANDBOX",
    message: expect.stringMatching(
      /--image quay\.io\/a\/b:1=DISK\.qcow2, or put the disk at \/images\/quay\.io_a_b_1\.qcow2/,
    ),
  });
});

test("names a path that is not a file", async () => {
  await expect(findImage("a", { images: { a: "/nowhere" } })).rejects.toThrow("/nowhere");
});

test.each(["../../etc/shadow", "..", "/", "a b"])("the name %j stays in the directory", (name) => {
  expect(fileName(name)).not.toMatch(/[/ ]|^\.\.?$/);
});
