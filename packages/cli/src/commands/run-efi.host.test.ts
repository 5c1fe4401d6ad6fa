import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFirmware } from "@virtkit/node-agent/local";
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

/** A guest with nothing to boot: its firmware says so on the console. */
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

test.for([
  ["plain", false, /UEFI Interactive Shell|Shell>/],
  ["secure", true, /Security Violation|No bootable option/],
] as const)("a guest starts with the host's %s EFI firmware", async (given, { skip }) => {
  const [name, secureBoot, said] = given;
  const architecture = process.arch === "arm64" ? "arm64" : "amd64";
  skip(!findFirmware(architecture, { secureBoot }), `this host has no ${name} EFI firmware`);
  const file = await manifest(name, secureBoot);
  try {
    expect(await start("run", "-f", file, "--detach").end()).toMatchObject({ code: 0 });
    const console = start("console", name);
    await console.untilSaid(/Ctrl-\] to leave/);
    // Any key: the firmware writes its menu or its prompt anew.
    console.type("\r");
    await console.untilSaid(said);
    console.type("\x1d");
    await console.end();
  } finally {
    await start("rm", "--now", name).end();
  }
});
