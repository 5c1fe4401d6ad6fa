import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const folder = fileURLToPath(new URL("..", import.meta.url));
const { exports } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
const entryPoints = Object.values(exports as Record<string, { default?: string }>).flatMap(
  ({ default: file }) => (file ? [file] : []),
);

/** Imports a module, as built, in a process that refuses whatever is of client-node. */
function load(module: string): { status: number | null; stderr: string } {
  const hook = `export async function resolve(name, context, next) {
    if (name.startsWith("@kubernetes/")) throw new Error("client-node is loaded");
    return next(name, context);
  }`;
  const script = `
    import { register } from "node:module";
    register("data:text/javascript,${encodeURIComponent(hook)}");
    await import(${JSON.stringify(module)});`;
  const args = ["--input-type=module", "--eval", script];
  return spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
}

test("no entry point loads @kubernetes/client-node, which costs more than 100 MB", () => {
  for (const file of entryPoints) expect(load(file)).toMatchObject({ stderr: "", status: 0 });
  expect(entryPoints).toContain("./dist/index.js");
});

test("control: client-node itself fails this test", () => {
  expect(load("@kubernetes/client-node").stderr).toContain("client-node is loaded");
});
