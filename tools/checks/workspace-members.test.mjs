import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { root } from "../setup.mjs";
import { workspaceMembers } from "./workspace-members.mjs";

const published = workspaceMembers(root).filter((member) => member.published);

test.each(published)("$name says on npm what it is, and what it does differently", ({ folder }) => {
  const has = (/** @type {string} */ file) => existsSync(path.join(root, folder, file));
  const { files } = JSON.parse(readFileSync(path.join(root, folder, "package.json"), "utf8"));
  expect(has("README.md")).toBe(true);
  expect(files.includes("deviations.md")).toBe(has("deviations.md"));
});
