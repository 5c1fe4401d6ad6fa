import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { packageFiles } from "./package-files.ts";

let workspace: string;

beforeEach(async () => {
  workspace = await realpath(await mkdtemp(join(tmpdir(), "virtkit-packages-")));
});

afterEach(async () => {
  await rm(workspace, { recursive: true });
});

async function add(...files: readonly string[]): Promise<void> {
  for (const file of files) {
    const place = join(workspace, file);
    await mkdir(dirname(place), { recursive: true });
    await writeFile(place, "");
  }
}

async function manifest(at: string, name: string, dependencies = {}): Promise<void> {
  await add(`${at}/package.json`);
  const text = JSON.stringify({ name, version: "1.0.0", dependencies });
  await writeFile(join(workspace, at, "package.json"), text);
}

async function pathsOf(root: string): Promise<string[]> {
  const files = await packageFiles([join(workspace, root)], "modules");
  return files.map(({ path }) => path).sort();
}

test("of a package of this workspace, built files without a source are left out", async () => {
  await manifest("one", "@here/one");
  await add("one/src/index.ts", "one/src/part/kept.ts", "one/src/table.json", "one/bin/one.js");
  await add("one/dist/index.js", "one/dist/part/kept.js", "one/dist/table.json");
  const before = await pathsOf("one");
  expect(before).toEqual(
    [
      ...["bin/one.js", "dist/index.js", "dist/part/kept.js", "dist/table.json", "package.json"],
      "src/table.json",
    ].map((file) => `modules/@here/one/${file}`),
  );
  // What the compiler leaves when a source is deleted or renamed.
  await add("one/dist/deleted.js", "one/dist/part/renamed.js", "one/dist/gone/index.js");
  expect(await pathsOf("one")).toEqual(before);
});

test("of an installed package everything that runs is taken, whatever its sources are", async () => {
  await manifest("one", "@here/one", { other: "1.0.0" });
  await manifest("store/node_modules/other", "other");
  await add("store/node_modules/other/src/index.coffee", "store/node_modules/other/dist/index.js");
  await add("store/node_modules/other/README.md", "store/node_modules/other/dist/a.test.js");
  await mkdir(join(workspace, "one/node_modules"));
  await symlink("../../store/node_modules/other", join(workspace, "one/node_modules/other"));
  expect(await pathsOf("one")).toEqual([
    "modules/@here/one/package.json",
    "modules/other/dist/index.js",
    "modules/other/package.json",
  ]);
});

test("a dependency that is not installed is named", async () => {
  await manifest("one", "@here/one", { other: "1.0.0" });
  await expect(pathsOf("one")).rejects.toMatchObject({
    code: "LAB_IMAGE",
    message: expect.stringContaining("@here/one: other is not installed"),
  });
});
