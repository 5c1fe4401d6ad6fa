import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFirmware } from "@virtkit/local";
import { afterAll, beforeAll, expect, test } from "vitest";
import { VirtkitProcess } from "../testing/virtkit-process.ts";

let directory: string;

const start = (...args: string[]): VirtkitProcess =>
  new VirtkitProcess(args, { VIRTKIT_STATE_DIR: join(directory, "state") });

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "virtkit-efi-"));
});

afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
});

/** A guest with nothing to boot but its firmware. */
async function manifest(name: string, secureBoot: boolean): Promise<string> {
  const file = join(directory, `${name}.json`);
  const domain = {
    memory: { guest: "256Mi" },
    features: { smm: { enabled: secureBoot } },
    firmware: { bootloader: { efi: { secureBoot } } },
    devices: {},
  };
  const spec = { terminationGracePeriodSeconds: 0, domain };
  const kind = { apiVersion: "kubevirt.io/v1", kind: "VirtualMachineInstance" };
  await writeFile(file, JSON.stringify({ ...kind, metadata: { name }, spec }));
  return file;
}

/** The command line of this guest's QEMU. */
function commandLines(name: string): string[] {
  return readdirSync("/proc")
    .filter((pid) => /^\d+$/.test(pid))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8");
      } catch {
        return "";
      }
    })
    .filter((line) => line.includes(`guest=default_${name},`));
}

test.for([
  ["plain", false],
  ["secure", true],
] as const)("a guest starts with the host's %s EFI firmware", async (given, { skip }) => {
  const [kind, secureBoot] = given;
  const architecture = process.arch === "arm64" ? "arm64" : "amd64";
  skip(!findFirmware(architecture, { secureBoot }), `this host has no ${kind} EFI firmware`);
  const name = `${kind}-efi`;
  const file = await manifest(name, secureBoot);
  try {
    expect(await start("run", "-f", file, "--detach").end()).toMatchObject({ code: 0 });
    const [line, ...more] = commandLines(name);
    expect(more).toEqual([]);
    expect(line).toMatch(/"filename":"\/run\/virtkit-firmware\/\w+_CODE[.\w]*\.fd"/);
    expect(line?.includes("property=secure,value=on")).toBe(secureBoot);
  } finally {
    await start("rm", "--now", name).end();
  }
});
