import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import path from "node:path";

/** The name of the one file, and the names of the links to it: the programs that launcher Pods start besides the launcher. */
export const helperPrograms = ["container-disk", "virt-tail", "virt-probe", "virt-freezer"];

/**
 * Builds the helpers of launcher Pods once, and again when their sources change.
 * @param {string} root
 * @param {string} cache
 * @returns {string} the file
 */
export function provideHelpers(root, cache) {
  const sources = path.join(root, "packages/launcher/helpers");
  const hash = createHash("sha256");
  for (const file of readdirSync(sources).sort()) {
    hash.update(file).update(readFileSync(path.join(sources, file)));
  }
  const folder = path.join(cache, `helpers-${hash.digest("hex").slice(0, 8)}`);
  const program = path.join(folder, "helpers");
  if (existsSync(program)) return program;
  mkdirSync(folder, { recursive: true });
  const work = `${program}.${process.pid}`;
  // The same bytes wherever it is built.
  const flags = ["-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid="];
  const { status, error, stderr } = spawnSync("go", ["build", ...flags, "-o", work, "."], {
    cwd: sources,
    env: { ...process.env, CGO_ENABLED: "0" },
    encoding: "utf8",
    timeout: 600_000,
  });
  if (status !== 0) {
    rmSync(work, { force: true });
    throw new Error(`the helpers of launcher Pods cannot be built: ${error?.message ?? stderr}`);
  }
  renameSync(work, program);
  return program;
}
