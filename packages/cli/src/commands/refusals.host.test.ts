import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runProgram } from "@virtkit/lab";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Run } from "../testing/run-virtkit.ts";
import { program, VirtkitProcess } from "../testing/virtkit-process.ts";

let directory: string;
let file: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "virtkit-refusals-"));
  file = join(directory, "plain.yaml");
  await writeFile(file, manifest());
});

afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
});

function manifest(spec: object = {}, domain: object = {}): string {
  return JSON.stringify({
    apiVersion: "kubevirt.io/v1",
    kind: "VirtualMachineInstance",
    metadata: { name: "refused" },
    spec: { domain: { memory: { guest: "128Mi" }, devices: {}, ...domain }, ...spec },
  });
}

async function run(state: string, ...args: string[]): Promise<Run> {
  const all = ["run", "--accel", "tcg", "--state-dir", state, "-f", ...args];
  return await new VirtkitProcess(all, {}).end();
}

/** Everything that a start could leave: files, namespaces, links, rules, cgroups, mounts and processes. */
async function leftovers(state: string): Promise<object> {
  const processes = readdirSync("/proc").filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readFileSync(`/proc/${name}/cmdline`, "utf8").includes(state);
    } catch {
      return false;
    }
  });
  return {
    files: existsSync(state) ? await runProgram("find", [state, "-printf", "%p %y %s %T@\n"]) : "",
    namespaces: existsSync("/run/netns") ? readdirSync("/run/netns").sort() : [],
    links: (await runProgram("ip", ["-o", "link"])).split("\n").length,
    rules: await runProgram("nft", ["list", "tables"]),
    cgroups: await runProgram("find", ["/sys/fs/cgroup", "-path", "*/virtkit/*", "-type", "d"]),
    mounts: readFileSync("/proc/mounts", "utf8").split("\n").length,
    processes,
  };
}

test("reports all refusals at once, one line each, and leaves nothing", async () => {
  const state = join(directory, "state");
  const wishes = join(directory, "wishes.yaml");
  const devices = {
    gpus: [{ name: "gpu", deviceName: "vendor/gpu" }],
    tpm: { persistent: true },
    disks: [{ name: "data", disk: {} }],
    interfaces: [{ name: "blue", bridge: {} }],
  };
  const spec = {
    architecture: "s390x",
    networks: [{ name: "blue", multus: { networkName: "blue" } }],
    volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }],
  };
  const domain = { cpu: { dedicatedCpuPlacement: true }, memory: { guest: "100Ti" }, devices };
  await writeFile(wishes, manifest(spec, domain));
  const before = await leftovers(state);
  const { code, err } = await run(state, wishes);
  expect(code).toBe(1);
  const told = [...err.matchAll(/^ {2}(\S+): .+; .+$/gm)].map(([, field]) => field);
  expect(told.filter((field) => field !== "spec.domain.devices.tpm")).toEqual([
    "spec.architecture",
    "spec.domain.cpu.dedicatedCpuPlacement",
    "spec.domain.memory.guest",
    "spec.domain.devices.gpus[0]",
    "spec.domain.devices.tpm.persistent",
    "spec.networks[0].multus",
    "spec.volumes[0].persistentVolumeClaim",
  ]);
  expect(err).toContain("--pvc data=DISK.img");
  expect(await leftovers(state)).toEqual(before);
  expect(existsSync(state)).toBe(false);
});

test("control: a guest that is not refused leaves what a refusal must not", async () => {
  const state = join(directory, "control");
  const before = await leftovers(state);
  const started = new VirtkitProcess(
    ["run", "--accel", "tcg", "--state-dir", state, "-d", "-f", file],
    {},
  );
  try {
    expect(await started.end()).toMatchObject({ code: 0 });
    const now = await leftovers(state);
    for (const [kind, found] of Object.entries(before)) {
      // Mounts are in the sandbox's own namespace, and processes show Pods, not the state directory.
      if (kind === "mounts" || kind === "processes") continue;
      expect(now, kind).not.toHaveProperty(kind, found);
    }
  } finally {
    await new VirtkitProcess(["rm", "--now", "--state-dir", state, "refused"], {}).end();
  }
});

describe("refuses a state directory that cannot be used, and leaves nothing:", () => {
  async function onTmpfs(options: string, use: (folder: string) => Promise<void>): Promise<void> {
    const folder = join(directory, "tmpfs");
    await mkdir(folder);
    await runProgram("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder]);
    try {
      await use(folder);
    } finally {
      await runProgram("umount", [folder]);
      await rm(folder, { recursive: true });
    }
  }

  test.each([
    ["read-only", "ro", /--state-dir: .*: the file system is read-only; use another one/],
    ["full", "size=1m", /--state-dir: .* has 1 MiB of free space, and a guest needs 64; free some/],
    ["out of files", "nr_inodes=20", /--state-dir: .* has room for \d+ more files/],
  ])("%s", async (_, options, message) => {
    await onTmpfs(options, async (folder) => {
      const state = join(folder, "state");
      const before = await leftovers(folder);
      expect(await run(state, file)).toMatchObject({
        code: 1,
        err: expect.stringMatching(message),
      });
      expect(await leftovers(folder)).toEqual(before);
    });
  });

  test("a file in its place", async () => {
    const state = join(directory, "in-the-way");
    await writeFile(state, "x");
    expect(await run(state, file)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/--state-dir: .* is not a directory/),
    });
  });
});

describe("refuses a program that does not work, and leaves nothing:", () => {
  test.each([
    ["libvirtd", "/usr/sbin/libvirtd", "exit 3", 0o755, /libvirtd: .* ended with 3; repair it/],
    ["libvirtd", "/usr/sbin/libvirtd", "", 0o644, /libvirtd: .* is not executable; repair it/],
    ["QEMU", "/usr/bin/qemu-system-x86_64", "exit 1", 0o755, /QEMU: .* ended with 1; repair it/],
    ["QEMU", "/usr/bin/qemu-system-x86_64", "", 0o644, /QEMU: .* is not executable; repair it/],
  ])("%s at %s that has become '%s' with mode %d", async (_, path, text, mode, message) => {
    const broken = join(directory, "broken");
    await writeFile(broken, `#!/bin/sh\n${text}\n`);
    await chmod(broken, mode);
    const state = join(directory, "unstarted");
    const before = await leftovers(state);
    // In a separate mount namespace: the host's program stays as it is.
    const script = `mount --bind "$1" "$2" && shift 2 && exec "$@"`;
    const line = [process.execPath, program, "run", "--accel", "tcg", "--state-dir", state];
    let err = "";
    try {
      const args = ["-m", "sh", "-c", script, "sh", broken, path, ...line, "-f", file];
      execFileSync("unshare", args, { stdio: ["ignore", "ignore", "pipe"] });
    } catch (error) {
      err = String((error as { stderr?: unknown }).stderr);
    }
    expect(err).toMatch(message);
    expect(await leftovers(state)).toEqual(before);
  });
});
