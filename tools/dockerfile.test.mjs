import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { debianPackages, imagePrograms } from "../packages/lab/src/image/launcher-image.ts";
import { root } from "./setup.mjs";

const read = (/** @type {string} */ file) => readFileSync(path.join(root, file), "utf8");
const text = read("examples/operator/Dockerfile");
const [, list = ""] = /--no-install-recommends([\s\S]*?)\nWORKDIR/.exec(text) ?? [];
const installed = list.split(/[\s\\]+/).filter((word) => word !== "");

/** What packs the image: tests beside it do not. */
const packing = [
  "tools/image.mjs",
  "tools/helpers.mjs",
  ...readdirSync(path.join(root, "packages/lab/src/image"))
    .filter((name) => !name.endsWith(".test.ts"))
    .map((name) => `packages/lab/src/image/${name}`),
];

/** The Debian package of each program that is not in every Debian. @type {Record<string, string>} */
const packageOf = { go: "golang-go", strip: "binutils", certtool: "gnutls-bin", kill: "procps" };
/** Programs of Debian's essential packages, which every image has. */
const essential = new Set(
  [
    ["bash", "dash", "dpkg", "grep", "nsenter", "sed", "setpriv", "sh", "tar"],
    ["cat", "chmod", "chown", "cp", "date", "dd", "echo", "env", "false", "head", "id", "ln", "ls"],
    ["mkdir", "mknod", "mv", "printf", "readlink", "rm", "sleep", "stat", "tail", "tee", "touch"],
    ["true", "uname", "wc"],
  ].flat(),
);

test("the Dockerfile installs every Debian package of the image", () => {
  expect(debianPackages.filter((name) => !installed.includes(name))).toEqual([]);
});

test("the Dockerfile installs every program that packing the image calls or copies", () => {
  const called = packing.flatMap((file) =>
    [...read(file).matchAll(/\b(?:runProgram|spawnSync|spawn)\("([^"]+)"/g)].map(
      ([, name = ""]) => name,
    ),
  );
  for (const name of ["go", "strip", "dpkg", "tar"]) expect(called).toContain(name);
  const missing = [...new Set([...called, ...imagePrograms])].filter(
    (name) => !essential.has(name) && !installed.includes(packageOf[name] ?? name),
  );
  expect(missing).toEqual([]);
});

test("the helpers can be built with the Go of the Dockerfile's Debian", () => {
  expect(text).toContain("-bookworm AS build");
  const [, minor] = /^go 1\.(\d+)$/m.exec(read("packages/launcher/helpers/go.mod")) ?? [];
  // Debian 12 has Go 1.19, which refuses to compile what a later one is required for.
  expect(Number(minor)).toBeLessThanOrEqual(19);
});

test("what the host has installed and built does not get into the build, but all sources do", () => {
  const ignored = read(".dockerignore")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((pattern) => pattern.replace(/^\*\*\//, ""));
  for (const pattern of read(".gitignore").trim().split("\n")) expect(ignored).toContain(pattern);
  expect(ignored).toContain(".git");
  const { stdout } = spawnSync("git", ["ls-files"], { cwd: root, encoding: "utf8" });
  // A copy of the repository without its history has nothing to compare.
  const sources = (stdout ?? "").split("\n");
  const lost = sources.filter((file) => file.split("/").some((part) => ignored.includes(part)));
  expect(lost).toEqual([]);
});

test("the Dockerfile uses the Node release that the tests run with", () => {
  expect(text).toMatch(/^FROM node:20\.\d+\.\d+-bookworm AS build$/m);
});
