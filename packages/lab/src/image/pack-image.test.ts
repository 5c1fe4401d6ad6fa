import { createHash } from "node:crypto";
import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runProgram } from "../run-program.ts";
import type { ImageFile } from "./image-file.ts";
import { packImage } from "./pack-image.ts";

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "virtkit-image-"));
});

afterEach(async () => {
  await rm(directory, { recursive: true });
});

const reference = "localhost/virtkit/test:1";
const long = `deep/${"directory/".repeat(15)}file`;
const files: ImageFile[] = [
  { path: "etc/hello", kind: "file", mode: 0o640, uid: 107, data: "hello\n" },
  { path: "bin", kind: "symlink", data: "usr/bin" },
  { path: "tmp", kind: "directory", mode: 0o1777 },
  { path: long, kind: "file", data: "x".repeat(513) },
  { path: "far", kind: "symlink", data: long },
];

async function pack(content: string | ImageFile[], name = "image.tar") {
  return await packImage(content, {
    archive: join(directory, name),
    reference,
    config: { Cmd: ["/bin/sh"] },
  });
}

/** The layer as tar sees it, unpacked from the archive. */
async function layerOf(archive: string): Promise<string> {
  const into = await mkdtemp(join(directory, "unpacked-"));
  await runProgram("tar", ["-xf", archive, "-C", into]);
  const index = JSON.parse(await readFile(join(into, "index.json"), "utf8"));
  const blob = (digest: string): string =>
    join(into, "blobs/sha256", digest.replace("sha256:", ""));
  const manifest = JSON.parse(await readFile(blob(index.manifests[0].digest), "utf8"));
  return blob(manifest.layers[0].digest);
}

test("an image has its files with owners, modes, links and long names, and each parent directory", async () => {
  const { archive } = await pack(files);
  const listing = await runProgram("tar", ["--numeric-owner", "-tvf", await layerOf(archive)]);
  const entries = listing
    .trimEnd()
    .split("\n")
    .map((line) => line.replace(/ +/g, " "));
  expect(entries).toContain("-rw-r----- 107/107 6 1970-01-01 00:00 etc/hello");
  expect(entries).toContain("lrwxr-xr-x 0/0 0 1970-01-01 00:00 bin -> usr/bin");
  expect(entries).toContain("drwxrwxrwt 0/0 0 1970-01-01 00:00 tmp/");
  expect(entries).toContain(`-rwxr-xr-x 0/0 513 1970-01-01 00:00 ${long}`);
  expect(entries).toContain(`lrwxr-xr-x 0/0 0 1970-01-01 00:00 far -> ${long}`);
  expect(entries).toContain("drwxr-xr-x 0/0 0 1970-01-01 00:00 deep/directory/");
  expect(entries.findIndex((entry) => entry.endsWith(" etc/"))).toBeLessThan(
    entries.findIndex((entry) => entry.endsWith("etc/hello")),
  );
});

test("names every blob by its hash, and the index by the reference", async () => {
  const { archive, digest } = await pack(files);
  const into = join(directory, "all");
  await mkdir(into);
  await runProgram("tar", ["-xf", archive, "-C", into]);
  const blobs = await readdir(join(into, "blobs/sha256"));
  expect(blobs).toHaveLength(3);
  for (const name of blobs) {
    const bytes = await readFile(join(into, "blobs/sha256", name));
    expect(createHash("sha256").update(bytes).digest("hex")).toBe(name);
  }
  const index = JSON.parse(await readFile(join(into, "index.json"), "utf8"));
  expect(index.manifests).toMatchObject([
    { digest, annotations: { "io.containerd.image.name": reference } },
  ]);
});

test("the same files give the same bytes, in any order and at any time", async () => {
  const source = join(directory, "source");
  await mkdir(join(source, "folder"), { recursive: true });
  await writeFile(join(source, "folder/file"), "content");
  await symlink("folder/file", join(source, "link"));
  const first = await pack(source, "first.tar");
  await utimes(join(source, "folder/file"), 1, 1);
  const second = await pack(source, "second.tar");
  expect(second.digest).toBe(first.digest);
  expect(await readFile(second.archive)).toEqual(await readFile(first.archive));
  expect((await pack([...files].reverse(), "a.tar")).digest).toBe(
    (await pack(files, "b.tar")).digest,
  );
  // Control: another content is another image.
  await writeFile(join(source, "folder/file"), "contents");
  expect((await pack(source, "third.tar")).digest).not.toBe(first.digest);
});

test.each([
  ["an absolute path", [{ path: "/etc", kind: "directory" }]],
  ["a path with ..", [{ path: "a/../../b", kind: "directory" }]],
  [
    "a path with two entries",
    [
      { path: "a", kind: "directory" },
      { path: "a", kind: "file" },
    ],
  ],
  [
    "a file below a link",
    [
      { path: "lib", kind: "symlink", data: "usr/lib" },
      { path: "lib/file", kind: "file" },
    ],
  ],
] satisfies [string, ImageFile[]][])("rejects %s and leaves no archive", async (_, content) => {
  await expect(pack(content)).rejects.toMatchObject({ code: "LAB_IMAGE" });
  expect(await readdir(directory)).toEqual([]);
});
