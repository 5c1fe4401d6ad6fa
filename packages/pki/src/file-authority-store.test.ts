import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { FileAuthorityStore } from "./file-authority-store.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), "virtkit-pki-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

it("is empty before the first swap, even if its directory is missing", async () => {
  await expect(new FileAuthorityStore(directory).read()).resolves.toBeUndefined();
  await expect(
    new FileAuthorityStore(path.join(directory, "none")).read(),
  ).resolves.toBeUndefined();
});

it("swaps only the revision that was read", async () => {
  const store = new FileAuthorityStore(path.join(directory, "made", "by", "it"));
  await expect(store.swap("one", undefined)).resolves.toBe(true);
  await expect(store.swap("other", undefined)).resolves.toBe(false);
  await expect(store.read()).resolves.toEqual({ content: "one", revision: "1" });
  await expect(store.swap("two", "1")).resolves.toBe(true);
  await expect(store.swap("late", "1")).resolves.toBe(false);
  await expect(store.swap("three", "2")).resolves.toBe(true);
  await expect(store.swap("very late", undefined)).resolves.toBe(false);
  await expect(store.swap("late", "1")).resolves.toBe(false);
  await expect(store.read()).resolves.toEqual({ content: "three", revision: "3" });
});

it("keeps no key of an old revision, and nothing that others can read", async () => {
  const store = new FileAuthorityStore(directory);
  await store.swap("old key", undefined);
  await store.swap("new key", "1");
  const files = readdirSync(directory).map((name) => path.join(directory, name));
  expect(files.map((file) => readFileSync(file, "utf8")).sort()).toEqual(["", "new key"]);
  expect(files.map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600]);
});

it("reports a directory with only empty revisions", async () => {
  writeFileSync(path.join(directory, "authorities.4.json"), "");
  writeFileSync(path.join(directory, "something else"), "");
  await expect(new FileAuthorityStore(directory).read()).rejects.toMatchObject({
    code: "PKI_STORE_INVALID",
    path: directory,
  });
});
