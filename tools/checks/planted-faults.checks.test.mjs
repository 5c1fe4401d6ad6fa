import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root } from "../setup.mjs";
import { checks } from "./checks.mjs";
import { runCommand } from "./run-command.mjs";

/**
 * @typedef {object} Fault
 * @property {keyof typeof checks} check which check must fire
 * @property {string} what
 * @property {string} file the file to change or add
 * @property {(text: string) => string} plant from its text ("" if there is none) to the faulty one
 * @property {RegExp} says what the check must print
 */

const source = "packages/api/src/quantity";

/** One fault for each thing that a check must catch. @type {Fault[]} */
const faults = [
  {
    check: "format and lint",
    what: "a badly formatted file",
    file: `${source}/planted.ts`,
    plant: () => "export   const  planted=1\n",
    says: /planted\.ts/,
  },
  {
    check: "format and lint",
    what: "an any",
    file: `${source}/planted.ts`,
    plant: () => "export function planted(value: any): unknown {\n  return value;\n}\n",
    says: /noExplicitAny/,
  },
  {
    check: "source rules",
    what: "a timer that bypasses the clock",
    file: "packages/node-agent/src/run/planted.ts",
    plant: () => 'export { setTimeout as sleep } from "node:timers/promises";\n',
    says: /planted\.ts:1: node:timers/,
  },
  {
    check: "source rules",
    what: "a swallowed error",
    file: "packages/node-agent/src/run/planted.ts",
    plant: () => "export function planted(): void {\n  try {\n  } catch {\n  }\n}\n",
    says: /planted\.ts:3: a failure is swallowed/,
  },
  {
    check: "types",
    what: "a type error in a test",
    file: `${source}/planted.test.ts`,
    plant: () => 'export const planted: number = "one";\n',
    says: /planted\.test\.ts.*TS2322/,
  },
  {
    check: "types",
    what: "an export without an explicit type",
    file: `${source}/planted.ts`,
    plant: () => "export const planted = [1].map((one) => one);\n",
    says: /planted\.ts/,
  },
  {
    check: "promises",
    what: "a promise that nobody waits for",
    file: `${source}/planted.ts`,
    plant: () =>
      "async function wait(): Promise<void> {}\nexport function planted(): void {\n  wait();\n}\n",
    says: /no-floating-promises/,
  },
  {
    check: "layers",
    what: "a node: import in a package that runs in a browser",
    file: `${source}/planted.ts`,
    plant: () => 'export { sep } from "node:path";\n',
    says: /pure-packages-run-in-a-browser/,
  },
  {
    check: "layers",
    what: "an import against the layers",
    file: `${source}/planted.ts`,
    plant: () => 'export { main } from "../../../cli/src/index.ts";\n',
    says: /layer-api/,
  },
  {
    check: "unused",
    what: "a file that nobody imports",
    file: `${source}/planted.ts`,
    plant: () => "export const planted = 1;\n",
    says: /planted\.ts/,
  },
  {
    check: "unused",
    what: "a dependency that nobody imports",
    file: "packages/api/package.json",
    plant: (text) => text.replace('"dependencies": {', '"dependencies": { "left-pad": "1.3.0",'),
    says: /left-pad/,
  },
  {
    check: "names",
    what: "a KubeVirt annotation that does not come from api/names",
    file: `${source}/planted.ts`,
    plant: () => 'export const planted = "kubevirt.io/domain";\n',
    says: /planted\.ts:1: take this name from api\/names/,
  },
  {
    check: "packages",
    what: "an entry point that does not exist",
    file: "packages/api/package.json",
    plant: (text) => text.replace("./dist/quantity/index.js", "./dist/quantity/missing.js"),
    says: /missing\.js/,
  },
  {
    check: "packages",
    what: "types that do not resolve",
    file: "packages/api/package.json",
    plant: (text) => text.replace("./dist/quantity/index.d.ts", "./dist/quantity/index.js.map"),
    says: /quantity/,
  },
  {
    check: "changelogs",
    what: "a changeset for a package that does not exist",
    file: ".changeset/planted.md",
    plant: () => '---\n"@virtkit/missing": minor\n---\n\nPlanted.\n',
    says: /@virtkit\/missing/,
  },
  {
    check: "changelogs",
    what: "a changeset for a package that is not published",
    file: ".changeset/planted.md",
    plant: () => '---\n"@virtkit/api": minor\n"@virtkit/lab": minor\n---\n\nPlanted.\n',
    says: /@virtkit\/lab/,
  },
  {
    check: "consumer",
    what: "an example in the README that does not run",
    file: "README.md",
    plant: (text) => text.replace("```ts\n", '```ts\nthrow new Error("planted");\n'),
    says: /README\.md:\d+: Error: planted/,
  },
  {
    check: "tests of examples",
    what: "an example whose tests are not found",
    file: "examples/unit-test-a-vm/vitest.config.ts",
    plant: (text) => text.replace("*.test.ts", "*.spec.ts"),
    says: /No test files found/,
  },
];

let scratch = "";

beforeAll(async () => {
  scratch = await mkdtemp(path.join(tmpdir(), "virtkit-planted-"));
  const list = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
  const { stdout } = await runCommand("git", list, { cwd: root });
  for (const file of stdout.split("\0").filter(Boolean)) {
    await mkdir(path.dirname(path.join(scratch, file)), { recursive: true });
    await copyFile(path.join(root, file), path.join(scratch, file));
  }
  const { code, output } = await runCommand("node", ["tools/setup.mjs", "build"], { cwd: scratch });
  expect(code, output).toBe(0);
});

afterAll(() => rm(scratch, { recursive: true, force: true }));

test.each(faults)("$check fires on $what", async ({ check, file, plant, says }) => {
  const target = path.join(scratch, file);
  const before = await readFile(target, "utf8").catch(() => undefined);
  try {
    await writeFile(target, plant(before ?? ""));
    const { ok, output } = await checks[check](scratch);
    expect(ok, output).toBe(false);
    expect(output).toMatch(says);
  } finally {
    if (before === undefined) await rm(target);
    else await writeFile(target, before);
  }
});

test("control: the copy without faults passes", async () => {
  const { ok, output } = await checks["format and lint"](scratch);
  expect(ok, output).toBe(true);
});
