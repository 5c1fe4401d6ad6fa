import { existsSync, readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { runCommand } from "./run-command.mjs";
import { workspaceMembers } from "./workspace-members.mjs";

/** @typedef {import("./workspace-members.mjs").Member} Member */

/**
 * Rehearses `changeset version` in a copy of the manifests: every published package must get the same version and a
 * CHANGELOG.md that has it, and private packages must get neither. Changes nothing in the workspace.
 * @param {string} root
 * @returns {Promise<{ ok: boolean, output: string }>}
 */
export async function checkChangelogs(root) {
  const copy = await mkdtemp(path.join(tmpdir(), "virtkit-changelogs-"));
  try {
    await copyManifests(root, copy);
    // The tool looks for the commits of the changesets.
    await runCommand("git", ["init", "--quiet"], { cwd: copy });
    const changeset = path.join(root, "node_modules/.bin/changeset");
    const { code, output } = await runCommand(changeset, ["version"], { cwd: copy });
    if (code !== 0) return { ok: false, output };
    const faults = versionFaults(copy, workspaceMembers(root));
    return { ok: faults.length === 0, output: faults.join("\n") };
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

/** What the tool reads. @param {string} root @param {string} copy */
async function copyManifests(root, copy) {
  const manifests = workspaceMembers(root).map(({ folder }) => `${folder}/package.json`);
  for (const file of [".changeset", "package.json", "pnpm-workspace.yaml", ...manifests]) {
    await mkdir(path.dirname(path.join(copy, file)), { recursive: true });
    await cp(path.join(root, file), path.join(copy, file), { recursive: true });
  }
}

/** @param {string} copy @param {readonly Member[]} members */
function versionFaults(copy, members) {
  const released = members.map((member) => ({ ...member, ...releaseOf(copy, member) }));
  const published = released.filter((member) => member.published);
  const [first] = published;
  return [
    ...published
      .filter(({ version }) => version !== first?.version)
      .map(
        ({ name, version }) => `${name} gets ${version}, but ${first?.name} gets ${first?.version}`,
      ),
    ...published
      .filter(({ changelog, version }) => !changelog?.includes(`\n## ${version}\n`))
      .map(({ name }) => `${name} gets no CHANGELOG.md with its version; it needs a changeset`),
    ...released
      .filter((member) => !member.published && member.changelog !== undefined)
      .map(({ name }) => `${name} is private and gets a CHANGELOG.md`),
  ];
}

/** @param {string} copy @param {Member} member */
function releaseOf(copy, { folder }) {
  const { version } = JSON.parse(readFileSync(path.join(copy, folder, "package.json"), "utf8"));
  const file = path.join(copy, folder, "CHANGELOG.md");
  return { version, changelog: existsSync(file) ? readFileSync(file, "utf8") : undefined };
}
