#!/usr/bin/env node
/**
 * Packs the image of all components from this host's Debian packages and the workspace as it is built, without a container
 * engine: `npm run image -- FILE.tar [--reference NAME]`. The same inputs give the same digest, which it prints. The file is an
 * OCI archive: `skopeo copy oci-archive:FILE.tar docker://NAME` pushes it. With `--root DIRECTORY` it also unpacks the
 * image's files there; that is what the Dockerfile of examples/operator does.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { loadLab, packComponents } from "./nodes/test-images.mjs";
import { setUpWorkspace } from "./setup.mjs";

/** @param {string} archive @param {string} file */
function readJson(archive, file) {
  const { stdout, status, stderr } = spawnSync("tar", ["-xOf", archive, file], {
    ...{ encoding: "utf8", maxBuffer: 1 << 24 },
  });
  if (status !== 0) throw new Error(`${archive} has no ${file}: ${stderr.trim()}`);
  return JSON.parse(stdout);
}

/** @param {string} archive @param {string} root */
function unpack(archive, root) {
  const blob = (/** @type {string} */ digest) => `blobs/${digest.replace(":", "/")}`;
  const [{ digest }] = readJson(archive, "index.json").manifests;
  mkdirSync(root, { recursive: true });
  for (const layer of readJson(archive, blob(digest)).layers) {
    const script = 'tar -xOf "$1" "$2" | tar -x -C "$3" --numeric-owner';
    const args = ["-c", script, "unpack", archive, blob(layer.digest), root];
    const { status } = spawnSync("bash", ["-o", "pipefail", ...args], { stdio: "inherit" });
    if (status !== 0) throw new Error(`the image could not be unpacked to ${root}`);
  }
}

/** The packages of programs that packing calls, or that the image has, besides what runs guests. */
const programs = { strip: "binutils", certtool: "gnutls-bin" };

/**
 * Why the image cannot be packed on this host, and what to do.
 * @param {readonly string[]} packages
 * @returns {string | undefined}
 */
function whyNot(packages) {
  const isThere = (/** @type {string} */ program) =>
    spawnSync("sh", ["-c", 'command -v "$1"', "sh", program]).status === 0;
  if (!isThere("dpkg")) {
    return "the image is made from a host's Debian packages, and this is not Debian; use examples/operator/Dockerfile";
  }
  const isInstalled = (/** @type {string} */ name) =>
    `${spawnSync("dpkg", ["-s", name]).stdout}`.includes("Status: install ok installed");
  const missing = [
    ...packages.filter((name) => !isInstalled(name)),
    ...Object.entries(programs).flatMap(([program, name]) => (isThere(program) ? [] : [name])),
  ];
  const install = `sudo apt-get install -y --no-install-recommends ${missing.join(" ")}`;
  return missing.length > 0 ? `packages are missing; run: ${install}` : undefined;
}

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { reference: { type: "string" }, root: { type: "string" } },
  });
  const [file, ...rest] = positionals;
  if (file === undefined || rest.length > 0) {
    throw new Error("use: npm run image -- FILE.tar [--reference NAME] [--root DIRECTORY]");
  }
  await setUpWorkspace();
  const { debianPackages, testImages } = await loadLab();
  const reason = whyNot(debianPackages);
  if (reason) throw new Error(reason);
  const archive = path.resolve(file);
  const reference = values.reference ?? testImages.launcher;
  const { digest, bytes } = await packComponents({ archive, reference });
  process.stdout.write(`${reference} ${digest} ${(bytes / 1e6).toFixed(0)} MB\n`);
  if (values.root) unpack(archive, path.resolve(values.root));
}

main().catch((error) => {
  process.stderr.write(`image: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
