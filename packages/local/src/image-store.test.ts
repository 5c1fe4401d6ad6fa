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

test("an image is what the caller says it is", async () => {
  const folder = await folderWith("mine.img");
  const images = { "quay.io/a/b:1": join(folder, "mine.img") };
  expect(await findImage("quay.io/a/b:1", { images, folder })).toBe(join(folder, "mine.img"));
});

test("an image is found in the folder by its name", async () => {
  const folder = await folderWith("quay.io_a_b_1.qcow2");
  expect(await findImage("quay.io/a/b:1", { folder })).toBe(join(folder, "quay.io_a_b_1.qcow2"));
});

test("an image that is nowhere is an error that says what to give", async () => {
  await expect(findImage("quay.io/a/b:1", { folder: "/images" })).rejects.toMatchObject({
    code: "AGENT_SANDBOX",
    message: expect.stringMatching(
      /--image quay\.io\/a\/b:1=DISK\.qcow2, or put the disk at \/images\/quay\.io_a_b_1\.qcow2/,
    ),
  });
});

test("a path that is no file is named", async () => {
  await expect(findImage("a", { images: { a: "/nowhere" } })).rejects.toThrow("/nowhere");
});

test.each(["../../etc/shadow", "..", "/", "a b"])("the name %j stays in the folder", (name) => {
  expect(fileName(name)).not.toMatch(/[/ ]|^\.\.?$/);
});
