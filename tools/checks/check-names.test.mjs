import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, expect, test } from "vitest";
import { root } from "../setup.mjs";
import { checkNames } from "./check-names.mjs";

const scratch = mkdtempSync(path.join(tmpdir(), "virtkit-names-"));
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

/** What the check says about a workspace with one file. @param {string} file @param {string} text */
async function verdictOn(file, text) {
  const folder = path.join(scratch, "packages/api");
  mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
  writeFileSync(path.join(folder, "package.json"), '{ "name": "x" }');
  writeFileSync(path.join(folder, file), text);
  return await checkNames(scratch);
}

test("no source outside api/names contains one of KubeVirt's names", async () => {
  const { ok, output } = await checkNames(root);
  expect(ok, output).toBe(true);
});

test.each([
  'const key = "kubevirt.io/domain";',
  'const key = "alpha.kubevirt.io/x";',
  'const folder = "/var/run/kubevirt-private";',
  'const folder = "/run/kubevirt/sockets";',
  "const pattern = /devices\\.kubevirt\\.io/;",
])("finds %s, and where it is", async (line) => {
  const { ok, output } = await verdictOn("src/a/planted.ts", `// a\n${line}\n`);
  expect({ ok, output }).toEqual({
    ok: false,
    output: "packages/api/src/a/planted.ts:2: take this name from api/names",
  });
});

test.each([
  ["src/names/well-known.ts", 'const key = "kubevirt.io/domain";'],
  ["src/planted.test.ts", 'const key = "kubevirt.io/domain";'],
  ["src/testing/planted.ts", 'const key = "kubevirt.io/domain";'],
  ["src/planted.ts", " * The label `kubevirt.io/vmi-name`."],
])("allows a name in %s", async (file, line) => {
  expect(await verdictOn(file, line)).toEqual({ ok: true, output: "" });
});

test("reports an exception that nothing needs", async () => {
  const { ok, output } = await verdictOn("src/names/empty.ts", "");
  expect(ok).toBe(false);
  expect(output).toMatch("packages/api/src/names/ no longer needs an exception; remove it");
});
