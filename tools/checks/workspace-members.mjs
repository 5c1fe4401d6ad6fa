import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { runCommand } from "./run-command.mjs";

/**
 * @typedef {object} Member
 * @property {string} folder relative to the root
 * @property {string} name
 * @property {boolean} published
 * @property {boolean} tested has its own test command
 */

/** The packages and examples of the workspace in a folder. @param {string} root @returns {Member[]} */
export function workspaceMembers(root) {
  return ["packages", "examples"]
    .filter((folder) => existsSync(path.join(root, folder)))
    .flatMap((folder) => readdirSync(path.join(root, folder)).map((name) => `${folder}/${name}`))
    .filter((folder) => existsSync(path.join(root, folder, "package.json")))
    .map((folder) => {
      const manifest = JSON.parse(readFileSync(path.join(root, folder, "package.json"), "utf8"));
      const { name, private: unpublished, scripts } = manifest;
      return { folder, name, published: unpublished !== true, tested: scripts?.test !== undefined };
    });
}

/**
 * Packs every published package as it would be published.
 * @param {string} root
 * @param {string} destination
 * @returns {Promise<string[]>} paths of the tarballs
 */
export async function packAll(root, destination) {
  const { packageManager } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
  await mkdir(destination, { recursive: true });
  const published = workspaceMembers(root).filter((member) => member.published);
  const filters = published.flatMap(({ name }) => ["--filter", name]);
  const args = ["-y", packageManager, "-r", ...filters, "pack", "--pack-destination", destination];
  const { code, output } = await runCommand("npx", args, { cwd: root });
  if (code !== 0) throw new Error(`packing failed:\n${output}`);
  return readdirSync(destination)
    .filter((file) => file.endsWith(".tgz"))
    .map((file) => path.join(destination, file));
}
