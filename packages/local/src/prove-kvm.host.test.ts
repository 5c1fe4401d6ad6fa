import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { proveKvm, proven, shortBoot } from "./prove-kvm.ts";

test("tests KVM by a boot, and remembers the answer until the next boot of the host", async () => {
  const directory = await mkdtemp(join(tmpdir(), "virtkit-kvm-test-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, "kvm.json");
  // Longer than a working KVM needs; a hanging one is not waited for any longer.
  const timeout = 5_000;
  const proof = await proveKvm({ file, timeout });
  expect(proof.reason).not.toBe("");
  const remembered = JSON.parse(await readFile(file, "utf8")) as object;
  expect(remembered).toMatchObject(proof);
  const other = { ...remembered, usable: !proof.usable };
  await writeFile(file, JSON.stringify(other));
  expect((await proveKvm({ file, timeout })).usable).toBe(!proof.usable);
  await writeFile(file, JSON.stringify({ ...other, bootId: "another" }));
  expect((await proveKvm({ file, timeout })).usable).toBe(proof.usable);
});

test("the same boot completes in software: if it does not, KVM is to blame", async () => {
  expect(await shortBoot("tcg", 60_000)).toMatchObject({ code: proven });
});
