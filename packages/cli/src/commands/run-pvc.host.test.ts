import { chmodSync, closeSync, openSync, readSync, statSync } from "node:fs";
import { mkdtemp, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { guestDisk } from "@virtkit/lab";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Run } from "../testing/run-virtkit.ts";
import { VirtkitProcess } from "../testing/virtkit-process.ts";

const image = "registry.example/virtkit/demo:latest";
const demo = new URL("../../../../examples/vms/demo.yaml", import.meta.url);

/** The demo with a disk on a claim; the guest copies from its first sector to its second. */
const extra = {
  disks: ["data", "seed"]
    .map((name) => `        - name: ${name}\n          disk:\n            bus: virtio\n`)
    .join(""),
  volumes: `    - name: data
      dataVolume:
        name: claim
    - name: seed
      cloudInitNoCloud:
        userData: |
          #cloud-config
          runcmd:
            - dd if=/dev/vdb of=/dev/vdb bs=512 count=1 seek=1 conv=notrunc,fsync
`,
};

let directory: string;
let disk: string;
let file: string;

const virtkit = async (...args: string[]): Promise<Run> =>
  await new VirtkitProcess(args, { VIRTKIT_STATE_DIR: join(directory, "state") }).end();

const run = async (name: string, ...args: string[]): Promise<Run> => {
  const path = join(directory, `${name}.yaml`);
  const text = (await readFile(demo, "utf8"))
    .replace("name: demo\n", `name: ${name}\n`)
    .replace("terminationGracePeriodSeconds: 30", "terminationGracePeriodSeconds: 0")
    .replace("      interfaces:\n", `${extra.disks}      interfaces:\n`)
    .concat(extra.volumes);
  await writeFile(path, text);
  return await virtkit("run", "-f", path, "--image", `${image}=${disk}`, ...args);
};

function sector(at: number): string {
  const fd = openSync(file, "r");
  try {
    const bytes = Buffer.alloc(512);
    readSync(fd, bytes, 0, 512, at * 512);
    return bytes.toString("latin1").replace(/\0+$/, "");
  } finally {
    closeSync(fd);
  }
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "virtkit-pvc-"));
  disk = await guestDisk();
  file = join(directory, "claim.img");
  await writeFile(file, "what was on the claim");
  await truncate(file, 4 << 20);
  chmodSync(file, 0o600);
});

afterAll(async () => {
  await virtkit("rm", "--now", "claimed");
  await rm(directory, { recursive: true, force: true });
});

test("refuses a claim without a file, and a file that the guest's user may not use, with what to do", async () => {
  expect(await run("claimed")).toMatchObject({
    code: 1,
    err: expect.stringContaining("pass its disk with --pvc claim=DISK.img"),
  });
  expect(await run("claimed", "--pvc", `claim=${file}`)).toMatchObject({
    code: 1,
    err: expect.stringContaining(`run: setfacl -m u:107:rw ${file}`),
  });
  expect(statSync(file)).toMatchObject({ uid: 0, gid: 0 });
});

test("a guest reads and writes the file behind its claim, and the file keeps its owner and mode", async () => {
  chmodSync(file, 0o666);
  const before = statSync(file);
  const args = ["--pvc", `claim=${file}`, "--detach", "--wait", "agent-connected"];
  const { code, err } = await run("claimed", ...args);
  expect({ code, err }).toMatchObject({ code: 0 });
  // Cloud-init's commands are done before the agent starts.
  expect(sector(1)).toBe("what was on the claim");
  const { mode, uid, gid, ino } = statSync(file);
  expect({ mode, uid, gid, ino }).toEqual({
    mode: before.mode,
    uid: before.uid,
    gid: before.gid,
    ino: before.ino,
  });
}, 300_000);

test("while it runs, no other guest gets the file", async () => {
  expect(await run("second", "--pvc", `claim=${file}`)).toMatchObject({
    code: 1,
    err: expect.stringContaining(`--pvc claim: ${file} is in use by another guest`),
  });
});

test("what was written stays when the guest is removed", async () => {
  expect(await virtkit("rm", "--now", "claimed")).toMatchObject({ code: 0 });
  expect(sector(0)).toBe("what was on the claim");
  expect(sector(1)).toBe("what was on the claim");
});
