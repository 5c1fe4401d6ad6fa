import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { Worker } from "node:worker_threads";
import type { HostDisk, VirtualMachineInstance } from "@virtkit/api/schema";
import { stopNamespaceHelper } from "@virtkit/host-primitives/namespaces";
import { openRoot } from "@virtkit/host-primitives/safe-path";
import { createPod, type PodFixture } from "@virtkit/lab";
import { isNodeAgentError } from "@virtkit/node-agent/errors";
import { openSandbox, type Sandbox } from "@virtkit/node-agent/sandbox";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { OpenHostDisks } from "./open-host-disks.ts";
import { planLocalHostDisks } from "./plan-host-disks.ts";

const inPod = "/var/run/kubevirt-private/vmi-disks/data";
const secretText = "the secret of the host";

/** Only for this test: the allowed directory, and a file of root beside it. */
let directory: string;
let allowed: string;
let secret: string;
let state: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "virtkit-host-disk-"));
  allowed = join(directory, "allowed");
  secret = join(directory, "outside/secret");
  state = join(directory, "state");
  for (const path of [allowed, join(directory, "outside"), state]) mkdirSync(path);
  writeFileSync(secret, secretText, { mode: 0o600 });
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));
afterAll(stopNamespaceHelper);

function vmiWith(path: string, type: HostDisk["type"] = "Disk"): VirtualMachineInstance {
  const capacity = type === "DiskOrCreate" ? { capacity: "2Mi" } : {};
  const volumes = [{ name: "data", hostDisk: { path, type, ...capacity } }];
  const disks = [{ name: "data", disk: {} }];
  return { spec: { domain: { devices: { disks } }, volumes } } as VirtualMachineInstance;
}

function open(path: string, type?: HostDisk["type"]): OpenHostDisks {
  return new OpenHostDisks(planLocalHostDisks(vmiWith(path, type), [allowed]), state);
}

const sandboxOf = (pod: PodFixture): Sandbox & Disposable =>
  openSandbox({ podUid: pod.podUid, pid: pod.pid });

/** A disk that the launcher may use. */
function usable(path: string, text = "the guest's disk"): string {
  writeFileSync(path, text, { mode: 0o600 });
  chownSync(path, 107, 107);
  return path;
}

/** Where the kernel keeps an access control list. */
const accessList = "system.posix_acl_access";

/**
 * An access control list that lets uid 107 read and write, as `setfacl -m u:107:rw` creates it from
 * mode 0600.
 */
function letLauncherUse(path: string): void {
  const none = 0xffff_ffff;
  const entries = [
    [1, 6, none],
    [2, 6, 107],
    [4, 0, none],
    [16, 6, none],
    [32, 0, none],
  ];
  const value = Buffer.alloc(4 + 8 * entries.length);
  value.writeUInt32LE(2);
  for (const [at, [tag = 0, permissions = 0, id = 0]] of entries.entries()) {
    value.writeUInt16LE(tag, 4 + 8 * at);
    value.writeUInt16LE(permissions, 6 + 8 * at);
    value.writeUInt32LE(id, 8 + 8 * at);
  }
  using root = openRoot(dirname(path));
  using file = root.resolve(basename(path), "file");
  file.setAttribute(accessList, value);
}

/** All that could have been changed about a file. */
function traits(path: string): object {
  const { uid, gid, mode, ino, nlink, size } = lstatSync(path);
  using root = openRoot(dirname(path));
  using file = root.resolve(basename(path));
  const list = file.getAttribute(accessList)?.toString("hex");
  return { uid, gid, mode, ino, nlink, size, list };
}

const refusal = { code: "AGENT_VMI_INVALID", path: "spec.volumes[0].hostDisk.path" };

/**
 * What local mode did before: it checked the path, mounted its directory and gave the file away.
 */
function naive(path: string): string {
  if (!statSync(path).isFile()) throw new Error("not a file");
  chownSync(path, 107, 107);
  return asLauncher(`cat '${path}'`);
}

/** As the user that QEMU runs as, with the file mounted where that user can get at it. */
function asLauncher(command: string): string {
  const user = ["--reuid=107", "--regid=107", "--clear-groups", "sh", "-c", command];
  return execFileSync("setpriv", user, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

test("mounts a disk by its handle without its neighbours, and changes nothing about it", async () => {
  await using pod = await createPod();
  using sandbox = sandboxOf(pod);
  const path = usable(join(allowed, "a.img"));
  writeFileSync(join(allowed, "neighbour"), "x");
  const before = traits(path);
  {
    using disks = open(path);
    await disks.mount(sandbox);
    await disks.mount(sandbox);
  }
  expect(pod.run(`ls ${inPod}; cat ${inPod}/a.img`)).toBe("a.img\nthe guest's disk");
  pod.run(`setpriv --reuid=107 --regid=107 --clear-groups sh -c 'printf T > ${inPod}/a.img'`);
  expect(readFileSync(path, "utf8")).toBe("T");
  await pod.kill();
  expect({ ...traits(path), size: 16 }).toEqual(before);
});

/** Each makes what the manifest names, and says what that is. */
const attacks: Readonly<Record<string, () => string>> = {
  "a link as the last part": () => {
    symlinkSync(secret, join(allowed, "a.img"));
    return join(allowed, "a.img");
  },
  "a link among the parents": () => {
    symlinkSync(join(directory, "outside"), join(allowed, "sub"));
    return join(allowed, "sub/secret");
  },
  "a relative link that stays inside the directory": () => {
    mkdirSync(join(allowed, "real"));
    linkSync(secret, join(allowed, "real/a.img"));
    symlinkSync("real", join(allowed, "sub"));
    return join(allowed, "sub/a.img");
  },
  "..": () => `${allowed}/../outside/secret`,
  "a file outside the directory": () => secret,
  "a hard link": () => {
    linkSync(secret, join(allowed, "a.img"));
    return join(allowed, "a.img");
  },
  "a file of root's inside the directory": () => {
    writeFileSync(join(allowed, "a.img"), secretText, { mode: 0o600 });
    return join(allowed, "a.img");
  },
};

test.each(Object.entries(attacks))("rejects %s and leaves it as it is", (_, attack) => {
  chmodSync(directory, 0o755);
  const path = attack();
  const victim = statSync(path).ino === statSync(secret).ino ? secret : path;
  const before = traits(victim);
  for (const type of ["Disk", "DiskOrCreate"]) {
    expect(() => open(path, type)).toThrow(expect.objectContaining(refusal));
  }
  expect(traits(victim)).toEqual(before);
  expect(() => asLauncher(`cat '${victim}'`)).toThrow(/Permission denied/);
  // Control: the old way gives the same file away.
  expect(naive(path)).toBe(secretText);
  expect(statSync(victim).uid).toBe(107);
});

test("rejects a directory, a FIFO or a device as a disk", () => {
  mkdirSync(join(allowed, "directory"));
  execFileSync("mkfifo", [join(allowed, "fifo")]);
  execFileSync("mknod", ["-m", "666", join(allowed, "device"), "c", "1", "3"]);
  for (const name of ["directory", "fifo", "device"]) {
    expect(() => open(join(allowed, name))).toThrow(expect.objectContaining(refusal));
  }
});

test("rejects a missing disk, and its directory keeps its owner", () => {
  const before = traits(allowed);
  expect(() => open(join(allowed, "a.img"))).toThrow(/there is no disk at .*DiskOrCreate/);
  expect(traits(allowed)).toEqual(before);
});

test("DiskOrCreate outside the allowed directories creates nothing, through any link", async () => {
  await using pod = await createPod();
  using sandbox = sandboxOf(pod);
  const outside = join(directory, "outside");
  symlinkSync(outside, join(allowed, "sub"));
  const wanted = [join(outside, "x.img"), join(allowed, "sub/x.img"), `${allowed}/../x.img`];
  for (const path of wanted) {
    expect(() => open(path, "DiskOrCreate")).toThrow(expect.objectContaining(refusal));
  }
  // The path may also become a link after the first look.
  using disks = open(join(allowed, "new/x.img"), "DiskOrCreate");
  symlinkSync(outside, join(allowed, "new"));
  await expect(disks.mount(sandbox)).rejects.toMatchObject(refusal);
  expect(readdirSync(outside)).toEqual(["secret"]);
  // Control: making the path follows the link.
  mkdirSync(join(allowed, "new"), { recursive: true });
  writeFileSync(join(allowed, "new/x.img"), "");
  expect(readdirSync(outside)).toEqual(["secret", "x.img"]);
});

test("DiskOrCreate creates a disk of the launcher, with its directories, and it stays", async () => {
  await using pod = await createPod();
  const path = join(allowed, "some/where/x.img");
  {
    using sandbox = sandboxOf(pod);
    using disks = open(path, "DiskOrCreate");
    expect(readdirSync(allowed)).toEqual([]);
    await disks.mount(sandbox);
  }
  pod.run(`setpriv --reuid=107 --regid=107 --clear-groups sh -c 'printf T > ${inPod}/x.img'`);
  await pod.kill();
  expect(statSync(path)).toMatchObject({ uid: 107, gid: 107, size: 1 });
  expect(statSync(join(allowed, "some")).uid).toBe(0);
  using again = open(path, "DiskOrCreate");
  expect(again).toBeDefined();
});

test("does not mount a file that replaces the disk after the check", async () => {
  await using pod = await createPod();
  using sandbox = sandboxOf(pod);
  const path = usable(join(allowed, "a.img"));
  using disks = open(path);
  renameSync(path, join(allowed, "aside"));
  symlinkSync(secret, path);
  await disks.mount(sandbox);
  expect(pod.run(`cat ${inPod}/a.img`)).toBe("the guest's disk");
  expect(statSync(secret).uid).toBe(0);
  // Control: a check by the path, then a mount by the path.
  pod.run(`touch ${inPod}/naive; mount --bind ${path} ${inPod}/naive`);
  expect(pod.run(`cat ${inPod}/naive`)).toBe(secretText);
});

test("mounts neither a disk that is removed after the check, nor what has its name by then", async () => {
  await using pod = await createPod();
  using sandbox = sandboxOf(pod);
  const path = usable(join(allowed, "a.img"));
  using disks = open(path);
  rmSync(path);
  symlinkSync(secret, path);
  await expect(disks.mount(sandbox)).rejects.toMatchObject(refusal);
  expect(pod.run(`cat ${inPod}/a.img`)).toBe("");
});

/** Swaps a disk for a link to the secret and back, as fast as it can, in a thread of its own. */
function swapper(path: string): Worker & AsyncDisposable {
  const worker = new Worker(
    `const fs = require("node:fs");
    const { path, secret } = require("node:worker_threads").workerData;
    for (;;) {
      fs.renameSync(path, path + ".aside"); fs.symlinkSync(secret, path);
      fs.unlinkSync(path); fs.renameSync(path + ".aside", path);
    }`,
    { eval: true, workerData: { path, secret } },
  );
  worker.on("error", () => undefined);
  return Object.assign(worker, {
    async [Symbol.asyncDispose]() {
      await worker.terminate();
    },
  });
}

test("never opens the link while the disk is swapped for a link over and over", async () => {
  await using pod = await createPod();
  using sandbox = sandboxOf(pod);
  const path = usable(join(allowed, "a.img"));
  const seen = { mounted: 0, refused: 0 };
  {
    await using _ = swapper(path);
    const end = Date.now() + 60_000;
    while ((seen.mounted < 20 || seen.refused < 20) && Date.now() < end) {
      try {
        using disks = open(path);
        await disks.mount(sandbox);
        expect(pod.run(`cat ${inPod}/a.img; umount ${inPod}/a.img`)).toBe("the guest's disk");
        seen.mounted++;
      } catch (error) {
        if (!isNodeAgentError(error)) throw error;
        seen.refused++;
      }
    }
    expect(statSync(secret).uid).toBe(0);
    expect(await losesSoon(path)).toBe(true);
  }
  // Both happened: the attacker was active during the attempts.
  expect(seen).toEqual({ mounted: expect.any(Number), refused: expect.any(Number) });
  expect(Math.min(seen.mounted, seen.refused)).toBeGreaterThanOrEqual(20);
});

/** Control: the same attacker against a check by the path that is followed by the use of the path. */
async function losesSoon(path: string): Promise<boolean> {
  for (const end = Date.now() + 30_000; Date.now() < end; ) {
    try {
      if (!lstatSync(path).isFile()) continue;
      chownSync(path, 107, 107);
    } catch {
      // Missing for a moment.
    }
    if (statSync(secret).uid === 107) return true;
  }
  return false;
}

test("the user's own access control list is enough, and a read-only disk needs only read access", () => {
  const path = join(allowed, "a.img");
  writeFileSync(path, "x", { mode: 0o600 });
  expect(() => open(path)).toThrow(/setfacl -m u:107:rw .*a\.img, or: chown 107 /);
  chmodSync(path, 0o644);
  expect(() => open(path)).toThrow(expect.objectContaining(refusal));
  const vmi = vmiWith(path);
  vmi.spec.domain.devices.disks = [{ name: "data", cdrom: {} }];
  new OpenHostDisks(planLocalHostDisks(vmi, [allowed]), state)[Symbol.dispose]();
  chmodSync(path, 0o600);
  letLauncherUse(path);
  const before = traits(path);
  open(path)[Symbol.dispose]();
  expect(traits(path)).toEqual(before);
});

test("mounts a read-only disk read-only", async () => {
  await using pod = await createPod();
  using sandbox = sandboxOf(pod);
  const path = usable(join(allowed, "a.iso"));
  const vmi = vmiWith(path);
  vmi.spec.domain.devices.disks = [{ name: "data", cdrom: {} }];
  using disks = new OpenHostDisks(planLocalHostDisks(vmi, [allowed]), state);
  await disks.mount(sandbox);
  expect(() => pod.run(`echo x > ${inPod}/a.iso`)).toThrow(/Read-only/);
});

test("does not allow a missing directory, or one that overlaps with the state of other guests", () => {
  const from = (allow: string) => () =>
    new OpenHostDisks(planLocalHostDisks(vmiWith(join(allow, "a.img")), [allow]), state);
  mkdirSync(join(state, "pods"));
  symlinkSync(join(state, "pods"), join(directory, "link"));
  for (const allow of [join(directory, "none"), directory, state, join(directory, "link"), "/"]) {
    expect(from(allow)).toThrow(
      expect.objectContaining({ code: "AGENT_ARGUMENT", path: "allowedHostDiskDirectories" }),
    );
  }
});
