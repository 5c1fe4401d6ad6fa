import { chmod, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { proveLibvirtd, proveQemu } from "./prove-programs.ts";

/** A libvirtd that reports its version, and then does something else than run. */
async function program(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "virtkit-prove-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  // Everybody's, for libvirtd is started as the launcher's user.
  await chmod(folder, 0o755);
  const path = join(folder, "libvirtd");
  const script = `#!/bin/sh\n[ "$1" = --version ] && exit 0\n${text}\n`;
  await writeFile(path, script, { mode: 0o755 });
  return path;
}

const homes = async (): Promise<string[]> =>
  (await readdir(tmpdir())).filter((name) => name.startsWith("virtkit-libvirtd-"));

test("libvirtd and QEMU of this host start, and leave nothing", async () => {
  expect(await proveLibvirtd()).toMatchObject({ state: "ok" });
  expect(await proveQemu()).toMatchObject({ state: "ok" });
  expect(await homes()).toEqual([]);
});

test("distinguishes a libvirtd that reports its version but does not start from one that does", async () => {
  expect(await proveLibvirtd(await program("echo no driver >&2; exit 6"))).toMatchObject({
    state: "broken",
    found: expect.stringMatching(/ends with 6: no driver/),
  });
  expect(await proveLibvirtd(await program("exec sleep 60"), 500)).toMatchObject({
    state: "broken",
    found: expect.stringMatching(/did not respond for 0\.5 s/),
  });
  expect(await homes()).toEqual([]);
});
