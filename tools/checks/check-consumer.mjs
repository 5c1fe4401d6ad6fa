import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { runCommand } from "./run-command.mjs";
import { packAll } from "./workspace-members.mjs";

/** @typedef {{ ok: boolean, output: string }} Verdict */

/** The Node versions that the README's examples must run on. */
const nodes = ["20.20.2", "24.21.0"];

/**
 * Installs the packages, packed as they would be published, into an empty npm project, and runs the
 * README's examples and the `virtkit` command there.
 * @param {string} root
 * @returns {Promise<Verdict>}
 */
export async function checkConsumer(root) {
  const project = await mkdtemp(path.join(tmpdir(), "virtkit-consumer-"));
  try {
    const tarballs = await packAll(root, path.join(project, "packed"));
    await writeFile(path.join(project, "package.json"), '{"private":true,"type":"module"}\n');
    const install = ["install", "--no-audit", "--no-fund", "--prefer-offline", ...tarballs];
    const { code, output } = await runCommand("npm", install, { cwd: project });
    if (code !== 0) return { ok: false, output };
    const examples = await checkExamples(root, project);
    return examples.ok ? await checkCommand(project) : examples;
  } finally {
    await rm(project, { recursive: true, force: true });
  }
}

/**
 * @param {string} root
 * @param {string} project
 * @returns {Promise<Verdict>}
 */
async function checkExamples(root, project) {
  const readme = await readFile(path.join(root, "README.md"), "utf8");
  const examples = [...readme.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code = ""]) => code);
  if (examples.length === 0) return { ok: false, output: "README.md has no examples" };
  for (const [index, code] of examples.entries()) {
    await writeFile(path.join(project, `example-${index}.js`), code);
  }
  for (const node of nodes) {
    for (const index of examples.keys()) {
      const { code, output } = await runNode(node, `example-${index}.js`, project);
      const where = `example ${index + 1} of README.md on Node ${node}:\n`;
      if (code !== 0) return { ok: false, output: where + output };
      if (output.trim() === "") return { ok: false, output: `${where}it prints nothing` };
    }
  }
  return { ok: true, output: "" };
}

/**
 * @param {string} version
 * @param {string} file
 * @param {string} cwd
 */
function runNode(version, file, cwd) {
  if (process.versions.node === version) return runCommand(process.execPath, [file], { cwd });
  return runCommand("npx", ["-y", `node@${version}`, file], { cwd });
}

/** @param {string} project @returns {Promise<Verdict>} */
async function checkCommand(project) {
  const input = '{"metadata":{"name":"demo"},"spec":{"domain":{"devices":{}}}}';
  const ran = await runCommand("npx", ["virtkit", "convert", "-f", "-"], { cwd: project, input });
  return { ok: ran.code === 0 && ran.stdout.startsWith("<domain"), output: ran.output };
}
