import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { chown, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { guestDisk } from "@virtkit/lab";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Run } from "../testing/run-virtkit.ts";
import { VirtkitProcess } from "../testing/virtkit-process.ts";

const image = "registry.example/virtkit/demo:latest";
const demo = new URL("../../../../examples/vms/demo.yaml", import.meta.url);

let directory: string;
let allowed: string;
let secret: string;
let disk: string;
let env: Record<string, string>;

const start = (...args: string[]): VirtkitProcess => new VirtkitProcess(args, env);
const virtkit = async (...args: string[]): Promise<Run> => await start(...args).end();

/** The demo with host disks in addition to its own. */
async function manifest(disks: Readonly<Record<string, object>>): Promise<string> {
  const names = Object.keys(disks);
  const devices = names.map(
    (name) => `        - name: ${name}\n          disk:\n            bus: virtio\n`,
  );
  const volumes = names.map(
    (name) => `    - name: ${name}\n      hostDisk: ${JSON.stringify(disks[name])}\n`,
  );
  const text = (await readFile(demo, "utf8"))
    .replace("      interfaces:\n", `${devices.join("")}      interfaces:\n`)
    .concat(...volumes);
  const file = join(directory, "vm.yaml");
  await writeFile(file, text);
  return file;
}

function traits(path: string): object {
  const { uid, gid, mode, ino, nlink, ctimeMs } = lstatSync(path);
  return { uid, gid, mode, ino, nlink, ctimeMs };
}

const records = (): string[] => {
  const folder = join(directory, "state/vmis");
  return existsSync(folder) ? readdirSync(folder) : [];
};

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "virtkit-run-host-disk-"));
  env = { VIRTKIT_STATE_DIR: join(directory, "state") };
  allowed = join(directory, "allowed");
  mkdirSync(allowed);
  secret = join(directory, "secret");
  writeFileSync(secret, "the secret of the host", { mode: 0o600 });
  disk = await guestDisk();
});

afterAll(async () => {
  await virtkit("rm", "--now", "demo");
  await rm(directory, { recursive: true, force: true });
});

test("refuses a run with a host disk as validate does, and names the option that allows it", async () => {
  const file = await manifest({ data: { path: secret, type: "Disk" } });
  const before = traits(secret);
  const refusal = "spec.volumes[1] is a hostDisk, but the feature gate HostDisk is off; turn it on";
  const validated = await virtkit("validate", "-f", file);
  expect(`${validated.out}${validated.err}`).toContain(refusal);
  expect(await virtkit("run", "-f", file, "--image", `${image}=${disk}`)).toMatchObject({
    code: 1,
    err: expect.stringContaining(`${refusal} for a directory of disks: --allow-host-disk DIR`),
  });
  expect(traits(secret)).toEqual(before);
  expect(records()).toEqual([]);
});

test("refuses a host disk outside the allowed directories, or one that only root can use, and leaves it as it is", async () => {
  const inside = join(allowed, "of-root.img");
  writeFileSync(inside, "the secret of the host", { mode: 0o600 });
  for (const path of [secret, inside]) {
    const before = traits(path);
    const file = await manifest({ data: { path, type: "Disk" } });
    const run = ["run", "-f", file, "--image", `${image}=${disk}`, "--allow-host-disk", allowed];
    expect(await virtkit(...run)).toMatchObject({
      code: 1,
      err: expect.stringContaining("spec.volumes[1].hostDisk.path: "),
    });
    expect(traits(path)).toEqual(before);
  }
  const made = join(directory, "made.img");
  const file = await manifest({ data: { path: made, type: "DiskOrCreate", capacity: "1Mi" } });
  expect((await virtkit("run", "-f", file, "--allow-host-disk", allowed)).code).toBe(1);
  expect(existsSync(made)).toBe(false);
  expect(records()).toEqual([]);
});

test("the guest reads and writes its host disks; afterwards they belong to the user, as before", async () => {
  const [data, made] = [join(allowed, "data.img"), join(allowed, "made.img")];
  await writeFile(data, Buffer.concat([Buffer.from("from-the-host\n")], 1 << 20), { mode: 0o600 });
  await chown(data, 107, 0);
  const { uid, gid, mode, ino } = lstatSync(data);
  const file = await manifest({
    data: { path: data, type: "Disk" },
    made: { path: made, type: "DiskOrCreate", capacity: "1Mi" },
  });
  const run = ["run", "-f", file, "--allow-host-disk", allowed];
  const before = traits(data);
  // A failing run: there is no image.
  expect((await virtkit(...run)).code).toBe(1);
  expect(traits(data)).toEqual(before);
  expect(existsSync(made)).toBe(false);

  const ready = ["--image", `${image}=${disk}`, "--detach", "--wait", "agent-connected"];
  expect(await virtkit(...run, ...ready)).toMatchObject({ code: 0 });
  const console = start("console", "demo");
  await console.untilSaid(/Ctrl-\] to leave/);
  console.type("head -n 1 /dev/vdb | tr a-z A-Z\r");
  await console.untilSaid(/FROM-THE-HOST/);
  console.type("for d in b c; do echo by-the-guest > /dev/vd$d; done; sync; echo done-$((40+2))\r");
  await console.untilSaid(/done-42/);
  console.type("\x1d");
  await console.end();
  expect((await virtkit("rm", "--now", "demo")).code).toBe(0);
  for (const path of [data, made]) {
    expect(readFileSync(path).subarray(0, 13).toString()).toBe("by-the-guest\n");
  }
  expect(lstatSync(data)).toMatchObject({ uid, gid, mode, ino });
  expect(lstatSync(made)).toMatchObject({ uid: 107, gid: 107, size: 1 << 20 });
  expect(readdirSync(allowed).sort()).toEqual(["data.img", "made.img", "of-root.img"]);
  expect(readFileSync("/proc/self/mountinfo", "utf8")).not.toContain(directory);
}, 300_000);
