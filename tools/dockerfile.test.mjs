import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { debianPackages } from "../packages/lab/src/image/launcher-image.ts";
import { root } from "./setup.mjs";

const text = readFileSync(path.join(root, "examples/operator/Dockerfile"), "utf8");

test("the Dockerfile installs every Debian package of the image", () => {
  const [, list = ""] = /--no-install-recommends([\s\S]*?)\nWORKDIR/.exec(text) ?? [];
  const installed = list.split(/[\s\\]+/);
  expect(debianPackages.filter((name) => !installed.includes(name))).toEqual([]);
});

test("the Dockerfile uses the Node release that the tests run with", () => {
  expect(text).toMatch(/^FROM node:20\.\d+\.\d+-bookworm AS build$/m);
});
