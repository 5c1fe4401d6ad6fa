import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { checkChangelogs } from "./check-changelogs.mjs";
import { checkConsumer } from "./check-consumer.mjs";
import { checkNames } from "./check-names.mjs";
import { runCommand } from "./run-command.mjs";
import { checkSourceRules } from "./source-rules.mjs";
import { packAll, workspaceMembers } from "./workspace-members.mjs";

/** @typedef {{ ok: boolean, output: string }} Verdict */

/**
 * Every check of a workspace, by name. Each takes the directory to check, so that a scratch copy can be checked,
 * too.
 * @satisfies {Record<string, (root: string) => Promise<Verdict>>}
 */
export const checks = {
  "format and lint": (root) => tool(root, "biome", ["check", "--error-on-warnings", "."]),
  "source rules": checkSourceRules,
  types: checkTypes,
  promises: (root) => tool(root, "oxlint", ["--type-aware", ...sources(root)]),
  layers: (root) =>
    tool(root, "depcruise", [...sources(root), "--config", ".dependency-cruiser.js"]),
  unused: (root) => tool(root, "knip", []),
  names: checkNames,
  packages: checkPackages,
  changelogs: checkChangelogs,
  consumer: checkConsumer,
  "tests of examples": checkExamples,
};

/** In the directory of an example, `npm test` must do what its README says. @param {string} root @returns {Promise<Verdict>} */
async function checkExamples(root) {
  for (const { folder, tested } of workspaceMembers(root)) {
    if (!folder.startsWith("examples/") || !tested) continue;
    const { code, output } = await runCommand("npm", ["test"], { cwd: path.join(root, folder) });
    if (code !== 0) return { ok: false, output };
  }
  return { ok: true, output: "" };
}

/** The sources as they are built, then everything with the tests. @param {string} root @returns {Promise<Verdict>} */
async function checkTypes(root) {
  const build = await tool(root, "tsc", ["-b"]);
  return build.ok ? tool(root, "tsc", ["-p", "tsconfig.test.json"]) : build;
}

/** publint and attw on what would be published. @param {string} root @returns {Promise<Verdict>} */
async function checkPackages(root) {
  const folder = await mkdtemp(path.join(tmpdir(), "virtkit-packed-"));
  try {
    for (const tarball of await packAll(root, folder)) {
      const publint = await tool(root, "publint", ["--strict", tarball]);
      if (!publint.ok) return publint;
      const attw = await tool(root, "attw", [
        "--profile",
        "esm-only",
        "--format",
        "ascii",
        tarball,
      ]);
      if (!attw.ok) return attw;
    }
    return { ok: true, output: "" };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The folders with the sources of each member. @param {string} root */
function sources(root) {
  return workspaceMembers(root).map(({ folder }) =>
    folder.startsWith("packages/") ? `${folder}/src` : folder,
  );
}

/**
 * @param {string} root
 * @param {string} name
 * @param {string[]} args
 * @returns {Promise<Verdict>}
 */
async function tool(root, name, args) {
  const command = path.join(root, "node_modules/.bin", name);
  const { code, output } = await runCommand(command, args, { cwd: root });
  return { ok: code === 0, output };
}
