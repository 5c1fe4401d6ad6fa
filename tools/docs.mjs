#!/usr/bin/env node
/** Writes the API reference of every published package to `docs/reference/`: `npm run docs`. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { workspaceMembers } from "./checks/workspace-members.mjs";
import { root, setUpWorkspace } from "./setup.mjs";

/** The source files of a package's entry points. @param {string} folder */
function entryPoints(folder) {
  const manifest = JSON.parse(readFileSync(path.join(root, folder, "package.json"), "utf8"));
  return Object.values(manifest.exports ?? {})
    .map((target) => target["@virtkit/source"])
    .filter((source) => source !== undefined)
    .map((source) => path.join(folder, source));
}

await setUpWorkspace();
const published = workspaceMembers(root).filter((member) => member.published);
const options = {
  "--out": "docs/reference",
  "--tsconfig": "tools/docs/tsconfig.json",
  "--name": "Virtkit",
  "--readme": "none",
};
const args = [
  ...published.flatMap(({ folder }) => entryPoints(folder)),
  ...Object.entries(options).flat(),
  "--skipErrorChecking",
];
const typedoc = path.join(root, "tools/docs/node_modules/.bin/typedoc");
process.exitCode = spawnSync(typedoc, args, { cwd: root, stdio: "inherit" }).status ?? 1;
