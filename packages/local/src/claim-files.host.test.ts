import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, copyFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { stopNamespaceHelper } from "@virtkit/host-primitives/namespaces";
import { createPod } from "@virtkit/lab";
import { openSandbox } from "@virtkit/node-agent/sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mountClaimFiles, openClaimFiles } from "./claim-files.ts";
import type { ClaimFact } from "./local-facts.ts";
import { runTool } from "./run-tool.ts";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "virtkit-claims-"));
  // Only root looks into it: what counts is the file.
  chmodSync(folder, 0o700);
});

afterAll(async () => {
  await stopNamespaceHelper();
  await rm(folder, { recursive: true, force: true });
});

function disk(name: string, text = "a raw disk", mode = 0o666): string {
  const path = join(folder, name);
  writeFileSync(path, text.padEnd(4096, "\0"));
  chmodSync(path, mode);
  return path;
}

async function factOf(path: string): Promise<ClaimFact | undefined> {
  using claims = openClaimFiles({ data: path });
  return claims.facts["data"];
}

describe("a file that stands for a claim", () => {
  test.each<[string, number, number, Partial<ClaimFact>]>([
    ["everybody's", 0, 0o666, { readable: true, writable: true }],
    ["root, readable by everyone", 0, 0o644, { readable: true, writable: false }],
    ["root, readable by root only", 0, 0o600, { readable: false, writable: false }],
    ["the launcher", 107, 0o600, { readable: true, writable: true }],
  ])("uses a file of %s as it is", async (_, uid, mode, access) => {
    const path = disk("owned.img", "x", mode);
    chownSync(path, uid, 0);
    const before = statSync(path);
    expect(await factOf(path)).toEqual({ path, ...access });
    const { mode: itsMode, uid: itsUid, gid, mtimeMs, ctimeMs } = statSync(path);
    expect({ itsMode, itsUid, gid, mtimeMs, ctimeMs }).toEqual({
      itsMode: before.mode,
      itsUid: before.uid,
      gid: before.gid,
      mtimeMs: before.mtimeMs,
      ctimeMs: before.ctimeMs,
    });
  });

  test.each<[string, (path: string) => Promise<unknown>, RegExp]>([
    ["that does not exist", async () => {}, /does not exist/],
    ["that is a link", async (path) => await symlink(disk("target.img"), path), /is a link/],
    ["that is a folder", async (path) => await mkdir(path), /is a directory, not a regular file/],
    ["that is a pipe", async (path) => await runTool("mkfifo", [path]), /is a fifo/],
    [
      "that is a block device",
      async (path) => await runTool("mknod", [path, "b", "7", "250"]),
      /is a block/,
    ],
    ["that is empty", async (path) => writeFileSync(path, ""), /is empty/],
    [
      "that is qcow2",
      async (path) => await runTool("qemu-img", ["create", "-qf", "qcow2", path, "1M"]),
      /is qcow2, not raw/,
    ],
    [
      "with a backing file",
      async (path) => {
        const backing = ["-b", disk("backing.img"), "-F", "raw"];
        await runTool("qemu-img", ["create", "-qf", "qcow2", ...backing, path]);
      },
      /it has a backing file/,
    ],
    [
      "of another format",
      async (path) => await runTool("qemu-img", ["create", "-qf", "vmdk", path, "1M"]),
      /format vmdk is not accepted/,
    ],
  ])("rejects %s", async (_, make, found) => {
    const path = join(folder, "refused.img");
    await rm(path, { recursive: true, force: true });
    await make(path);
    const fact = await factOf(path);
    expect(fact?.problem?.found).toMatch(found);
    expect(fact?.problem?.instead).not.toBe("");
  });

  test("rejects a file that is already used for another claim, by whichever path", async () => {
    const path = disk("one.img");
    await runTool("ln", [path, `${path}.too`]);
    using claims = openClaimFiles({ one: path, two: `${path}.too` });
    expect(claims.facts["one"]).not.toHaveProperty("problem");
    expect(claims.facts["two"]?.problem?.found).toMatch(/is already used for "one"/);
  });

  test("rejects a file while a guest uses it", async () => {
    const path = disk("locked.img");
    // As QEMU has it while a guest runs.
    const holder = spawn("qemu-io", ["-f", "raw", path], { stdio: ["pipe", "pipe", "inherit"] });
    await once(holder.stdout, "data");
    expect((await factOf(path))?.problem?.found).toMatch(/in use by another guest/);
    holder.stdin.end("quit\n");
    await once(holder, "close");
    expect(await factOf(path)).not.toHaveProperty("problem");
  });
});

const vmi = {
  spec: { volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }] },
} as VirtualMachineInstance;
const readOnly = {
  spec: {
    volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data", readOnly: true } }],
  },
} as VirtualMachineInstance;
const image = "/run/kubevirt-private/vmi-disks/data/disk.img";

test("mounts exactly the file that was checked, and writes stay in it", async () => {
  await using pod = await createPod();
  using sandbox = openSandbox({ podUid: pod.podUid, pid: pod.pid });
  const path = disk("swapped.img", "the disk");
  const secret = disk("secret.img", "a secret", 0o600);
  using claims = openClaimFiles({ data: path });
  // The attack: another file replaces it at this path between the check and the mount.
  renameSync(path, `${path}.old`);
  await symlink(secret, path);
  await mountClaimFiles(vmi, claims, sandbox);
  expect(pod.run(`head -c 8 ${image}`)).toBe("the disk");
  pod.run(`printf written | dd of=${image} conv=notrunc status=none`);
  expect(await runTool("head", ["-c", "7", `${path}.old`])).toBe("written");
  // The control: access by path gets the other one.
  copyFileSync(path, join(folder, "naive.img"));
  expect(await runTool("head", ["-c", "8", join(folder, "naive.img")])).toBe("a secret");
});

test("mounts a read-only claim read-only", async () => {
  await using pod = await createPod();
  using sandbox = openSandbox({ podUid: pod.podUid, pid: pod.pid });
  using claims = openClaimFiles({ data: disk("read.img") });
  await mountClaimFiles(readOnly, claims, sandbox);
  expect(() => pod.run(`printf x | dd of=${image} conv=notrunc`)).toThrow(/Read-only file system/);
});
