#!/usr/bin/env node
/**
 * Writes the documentation site to `docs/reference/`: guides, decisions, deviations and the API reference
 * of every published package, with one search over all of them: `npm run docs`.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { workspaceMembers } from "./checks/workspace-members.mjs";
import { followFolders } from "./docs/follow-folders.mjs";
import { root, setUpWorkspace } from "./setup.mjs";

/** The source files of a package's entry points. @param {string} folder */
function entryPoints(folder) {
  const manifest = JSON.parse(readFileSync(path.join(root, folder, "package.json"), "utf8"));
  return Object.values(manifest.exports ?? {})
    .map((target) => target["@virtkit/source"])
    .filter((source) => source !== undefined)
    .map((source) => path.join(folder, source));
}

/** The Markdown files in a folder. @param {string} folder */
function documents(folder) {
  return readdirSync(path.join(root, folder))
    .filter((file) => file.endsWith(".md"))
    .sort()
    .map((file) => `${folder}/${file}`);
}

await setUpWorkspace();
const published = workspaceMembers(root).filter((member) => member.published);
const options = {
  "--out": "docs/reference",
  "--tsconfig": "tools/docs/tsconfig.json",
  "--name": "Virtkit",
  "--readme": "README.md",
  "--sourceLinkTemplate": "https://github.com/virtkit/virtkit/blob/main/{path}#L{line}",
  "--searchInDocuments": "true",
  "--customCss": "tools/docs/site.css",
  "--includeVersion": "false",
  "--disableGit": "true",
};
const texts = [
  ...documents("docs/guides"),
  ...documents("docs"),
  "CONTRIBUTING.md",
  "SECURITY.md",
  ...documents("docs/decisions"),
  ...published
    .flatMap(({ folder }) => [`${folder}/README.md`, `${folder}/deviations.md`])
    .filter((file) => existsSync(path.join(root, file))),
];
const args = [
  ...published.flatMap(({ folder }) => entryPoints(folder)),
  ...Object.entries(options).flat(),
  ...texts.flatMap((file) => ["--projectDocuments", file]),
  "--skipErrorChecking",
];
const typedoc = path.join(root, "tools/docs/node_modules/.bin/typedoc");
const { status } = spawnSync(typedoc, args, { cwd: root, stdio: "inherit" });
if (status === 0) followFolders(path.join(root, "docs/reference"), texts);
process.exitCode = status ?? 1;
