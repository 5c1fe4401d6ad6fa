import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root } from "../setup.mjs";
import { runCommand } from "./run-command.mjs";
import { packAll } from "./workspace-members.mjs";

/** The Node versions that the README's examples must run on, as npx finds them. */
const nodes = { "this Node": [process.execPath], "Node 24": ["npx", "-y", "node@24.21.0"] };

/** An empty npm project with the packed packages installed. */
let project = "";
/** @type {string[]} */
let examples = [];

beforeAll(async () => {
  project = await mkdtemp(path.join(tmpdir(), "virtkit-consumer-"));
  const tarballs = await packAll(root, path.join(project, "packed"));
  await writeFile(path.join(project, "package.json"), '{"private":true,"type":"module"}\n');
  const install = ["install", "--no-audit", "--no-fund", "--prefer-offline", ...tarballs];
  const { code, output } = await runCommand("npm", install, { cwd: project });
  expect(code, output).toBe(0);
  const readme = await readFile(path.join(root, "README.md"), "utf8");
  examples = [...readme.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code = ""]) => code);
  for (const [index, code] of examples.entries()) {
    await writeFile(path.join(project, `example-${index}.js`), code);
  }
});

afterAll(() => rm(project, { recursive: true, force: true }));

test("the README has examples", () => {
  expect(examples.length).toBeGreaterThan(0);
});

test.each(Object.entries(nodes))(
  "the README's examples run for a consumer on %s",
  async (_, node) => {
    const [command = "", ...args] = node;
    for (const index of examples.keys()) {
      const all = [...args, `example-${index}.js`];
      const { code, output } = await runCommand(command, all, { cwd: project });
      expect(code, output).toBe(0);
      expect(output.trim(), `example ${index} prints what it shows`).not.toBe("");
    }
  },
);

test("the virtkit command runs for a consumer", async () => {
  const input = '{"id":1,"fn":"nope"}\nnot json\n';
  const { code, stdout } = await runCommand("npx", ["virtkit", "batch"], { cwd: project, input });
  expect(code).toBe(0);
  expect(stdout.trimEnd().split("\n")).toHaveLength(2);
});
