import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { commentExamples, writtenExamples } from "./code-examples.mjs";
import { compileExamples } from "./compile-examples.mjs";
import { runCommand } from "./run-command.mjs";
import { packAll } from "./workspace-members.mjs";

/** @typedef {{ ok: boolean, output: string }} Verdict */

/** The Node versions that the examples must run on. */
const nodes = ["20.20.2", "22.23.3", "24.21.0"];

/** Dependencies of the examples that users of the packages install themselves. */
const peers = ["@kubernetes/client-node@1.4.0", "prom-client@15.1.3", "xmlbuilder2@4.0.3"];

/**
 * Installs the packages, packed as they would be published, into an empty npm project. Compiles every
 * example of the READMEs, guides and doc comments there, and runs those of the READMEs and guides, and
 * the `virtkit` command.
 * @param {string} root
 * @returns {Promise<Verdict>}
 */
export async function checkConsumer(root) {
  const project = await mkdtemp(path.join(tmpdir(), "virtkit-consumer-"));
  try {
    const tarballs = await packAll(root, path.join(project, "packed"));
    await writeFile(path.join(project, "package.json"), '{"private":true,"type":"module"}\n');
    const installed = await install(project, tarballs);
    if (!installed.ok) return installed;
    const command = await checkCommand(project);
    if (!command.ok) return command;
    const withPeers = await install(project, peers);
    return withPeers.ok ? await checkExamples(root, project) : withPeers;
  } finally {
    await rm(project, { recursive: true, force: true });
  }
}

/** @param {string} project @param {readonly string[]} packages @returns {Promise<Verdict>} */
async function install(project, packages) {
  const args = ["install", "--no-audit", "--no-fund", "--prefer-offline", ...packages];
  const { code, output } = await runCommand("npm", args, { cwd: project });
  return { ok: code === 0, output };
}

/**
 * @param {string} root
 * @param {string} project
 * @returns {Promise<Verdict>}
 */
async function checkExamples(root, project) {
  const written = writtenExamples(root);
  const examples = [...written, ...commentExamples(root)];
  const { ok, output, files } = await compileExamples(root, project, examples);
  if (!ok) return { ok, output };
  const runner = path.join(import.meta.dirname, "run-examples.mjs");
  const runnable = examples.flatMap(({ runs, where }, index) =>
    runs ? [[where, path.join(project, files[index] ?? "")].join("=")] : [],
  );
  for (const node of nodes) {
    const ran = await runNode(node, [runner, ...runnable], project);
    if (ran.code !== 0) return { ok: false, output: `on Node ${node}: ${ran.output}` };
  }
  const list = runnable.map((each) => each.split("=")[0]).join("\n");
  const summary = `${examples.length} examples compiled, ${runnable.length} run on Node ${nodes.join(", ")}`;
  return { ok: true, output: `${list}\n${summary}\n` };
}

/**
 * @param {string} version
 * @param {string[]} args
 * @param {string} cwd
 */
function runNode(version, args, cwd) {
  if (process.versions.node === version) return runCommand(process.execPath, args, { cwd });
  return runCommand("npx", ["-y", `node@${version}`, ...args], { cwd });
}

/** @param {string} project @returns {Promise<Verdict>} */
async function checkCommand(project) {
  const input = '{"metadata":{"name":"demo"},"spec":{"domain":{"devices":{}}}}';
  const ran = await runCommand("npx", ["virtkit", "convert", "-f", "-"], { cwd: project, input });
  return { ok: ran.code === 0 && ran.stdout.startsWith("<domain"), output: ran.output };
}
