import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { processIo } from "./io.ts";
import { readConfig } from "./read-config.ts";

const folder = mkdtempSync(join(tmpdir(), "virtkit-config-"));
afterAll(() => rmSync(folder, { recursive: true }));

async function read(text: string) {
  const file = join(folder, "config.yaml");
  writeFileSync(file, text);
  return await readConfig(file, processIo());
}

test.each([
  "apiVersion: kubevirt.io/v1\nkind: KubeVirt\nspec: {configuration: {cpuModel: Haswell}}\n",
  "spec: {configuration: {cpuModel: Haswell}}\n",
  "cpuModel: Haswell\n",
])("%j is a configuration", async (text) => {
  expect((await read(text)).cpuModel).toBe("Haswell");
});

test("uses the default without a file", async () => {
  expect((await readConfig(undefined, processIo())).cpuModel).toBeUndefined();
});

test.each([
  ["apiVersion: v1\nkind: Pod\nspec: {}\n", /config\.yaml:2:1: kind is the string "Pod"; give a K/],
  ["just text\n", /config\.yaml:1:1: found the string "just text"; give the KubeVirt object/],
  ["a: 1\n---\nb: 2\n", /the file must contain one object, not 2 objects/],
  ["cpuModel: 5\nsmbios: 1\n", /:1:1: spec\.configuration\.cpuModel .*\n.*:2:1: spec\.conf/],
  ["status: []\n", /:1:1: status must/],
  ["kind: KubeVirt\nspec:\n  configuration: {cpuModel: 5}\n", /:3:19: spec\.configuration\.cpu/],
])("refuses %j with its place", async (text, words) => {
  await expect(read(text)).rejects.toThrow(words);
});
