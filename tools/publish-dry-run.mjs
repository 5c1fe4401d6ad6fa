#!/usr/bin/env node
/**
 * Rehearses publishing every package, in dependency order, without publishing anything:
 * `npm run release:dry-run`.
 */
import { readFileSync } from "node:fs";
import path from "node:path";
import { runCommand } from "./checks/run-command.mjs";
import { workspaceMembers } from "./checks/workspace-members.mjs";
import { root, setUpWorkspace } from "./setup.mjs";

/** @param {string} folder */
function manifestOf(folder) {
  return JSON.parse(readFileSync(path.join(root, folder, "package.json"), "utf8"));
}

/** Packages with those that they need before them. @param {{ folder: string, name: string }[]} members */
function inOrder(members) {
  /** @type {Map<string, string>} */
  const ordered = new Map();
  /** @param {{ folder: string, name: string }} member */
  const add = ({ folder, name }) => {
    const { dependencies, optionalDependencies } = manifestOf(folder);
    const needed = Object.keys({ ...dependencies, ...optionalDependencies });
    for (const other of members.filter((each) => needed.includes(each.name))) {
      if (!ordered.has(other.name)) add(other);
    }
    ordered.set(name, folder);
  };
  for (const member of members) add(member);
  return ordered;
}

await setUpWorkspace();
const { packageManager } = manifestOf(".");
const published = workspaceMembers(root).filter((member) => member.published);
for (const [name, folder] of inOrder(published)) {
  const args = ["-y", packageManager, "publish", "--dry-run", "--no-git-checks"];
  const { code, output } = await runCommand("npx", args, { cwd: path.join(root, folder) });
  process.stdout.write(`${code === 0 ? "ok" : "failed"}  ${name}\n${code === 0 ? "" : output}`);
  if (code !== 0) process.exitCode = 1;
}
process.stdout.write(`
Nothing was published. To publish, run: npm run release
The packages ask for provenance (publishConfig.provenance). It needs a public repository and a release job on
GitHub Actions or GitLab CI/CD with an identity token (permissions: id-token: write), and npm 9.5 or newer there.
Anywhere else, publish without it: NPM_CONFIG_PROVENANCE=false npm run release
`);
