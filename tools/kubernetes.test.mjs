import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { kubernetesModule, missingGo, missingPrograms } from "./kubernetes.mjs";
import { root } from "./setup.mjs";

/** @type {string} */
let folder;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "virtkit-kubernetes-"));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

test("the build is cached by release and by everything that it was built from", () => {
  cpSync(path.join(root, "tools/kubernetes"), path.join(folder, "tools/kubernetes"), {
    recursive: true,
  });
  const { release, key } = kubernetesModule(folder);
  expect(release).toMatch(/^1\.\d+\.\d+$/);
  expect(key).toBe(kubernetesModule(root).key);
  expect(key.startsWith(`${release}-`)).toBe(true);
  writeFileSync(path.join(folder, "tools/kubernetes/pause/main.go"), "package main\n");
  expect(kubernetesModule(folder).key).not.toBe(key);
});

test("a folder lacks programs that are missing or cannot be run", () => {
  mkdirSync(path.join(folder, "bin"));
  for (const name of ["kubelet", "etcd"]) writeFileSync(path.join(folder, name), "");
  chmodSync(path.join(folder, "kubelet"), 0o755);
  expect(missingPrograms(folder, ["kubelet", "etcd", "ctr"])).toEqual(["etcd", "ctr"]);
});

test("without Go it says which release to install", () => {
  const { PATH } = process.env;
  process.env["PATH"] = folder;
  try {
    expect(missingGo(kubernetesModule(root))).toMatch(/^Go is missing: install Go 1\.\d+/);
  } finally {
    process.env["PATH"] = PATH;
  }
});
