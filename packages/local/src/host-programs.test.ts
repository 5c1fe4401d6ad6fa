import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { emulatorState, findProgram, machineTypes, tryProgram } from "./host-programs.ts";

async function script(text: string, mode = 0o755): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "virtkit-programs-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, "program");
  await writeFile(path, `#!/bin/sh\n${text}\n`, { mode });
  return path;
}

test("a program that answers is fine", async () => {
  const path = await script('echo "version $1"');
  expect(await tryProgram(path, ["9"])).toEqual({
    state: "ok",
    found: path,
    stdout: "version 9\n",
  });
});

test.each([
  [
    "exits with a code",
    "echo lib.so is missing >&2; exit 127",
    /ended with 127: lib\.so is missing/,
  ],
  ["is killed", "kill -SEGV $$", /ended with SIGSEGV/],
  ["hangs", "exec sleep 60", /did not answer within 0\.2 s/],
])("a program that %s is broken, and the report says how", async (_, text, found) => {
  const state = await tryProgram(
    await script(text),
    ["--version"],
    text.includes("sleep") ? 200 : 10_000,
  );
  expect(state).toMatchObject({ state: "broken", found: expect.stringMatching(found) });
});

test("a nonexistent program is missing; one that is not executable is broken", async () => {
  expect(await tryProgram(undefined, [])).toMatchObject({ state: "missing" });
  expect(await tryProgram("/nowhere/program", [])).toMatchObject({ state: "missing" });
  const path = await script("true", 0o644);
  expect(await tryProgram(path, [])).toEqual({
    state: "broken",
    found: `${path} is not executable`,
  });
});

test("looks for a program in order, executable ones first", async () => {
  const [plain, good] = [await script("true", 0o644), await script("true")];
  const folders = [plain, good].map((path) => join(path, ".."));
  expect(findProgram("program", folders)).toBe(good);
  expect(findProgram("program", folders.slice(0, 1))).toBe(plain);
  expect(findProgram("another", folders)).toBeUndefined();
});

test("reads QEMU's machine types, including long names", async () => {
  const help = [
    "Supported machines are:",
    "q35                  Standard PC (Q35 + ICH9, 2009) (alias of pc-q35-7.2)",
    "a-type-with-a-very-long-name Something",
  ];
  expect(machineTypes(help.join("\n"))).toEqual(["q35", "a-type-with-a-very-long-name"]);
  const { machineTypes: types } = await emulatorState(await script("exit 1"));
  expect(types).toEqual([]);
});
