import { createHash, randomBytes } from "node:crypto";
import { chmod, open, readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DiskPaths } from "@virtkit/domain-manager/disks";
import { connectVmi, readRecord, type VmiRecord } from "@virtkit/local";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DemoHost, until } from "../testing/demo-host.ts";

const mebibyte = 2 ** 20;
const volumes = {
  disks:
    "        - name: data\n          disk:\n            bus: virtio\n" +
    "        - name: seed\n          disk:\n            bus: virtio\n" +
    "        - name: config\n          cdrom:\n            bus: sata\n",
  volumes:
    "    - name: data\n      persistentVolumeClaim:\n        claimName: data\n" +
    "    - name: seed\n      cloudInitNoCloud:\n        userData: '#cloud-config'\n" +
    "    - name: config\n      configMap:\n        name: settings\n",
  objects:
    "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata:\n  one: first\n  two: second\n",
};

let host: DemoHost;
let first = "";
let second = "";

beforeAll(async () => {
  host = await DemoHost.make((text) =>
    text
      .replace("      interfaces:\n", `${volumes.disks}      interfaces:\n`)
      .replace(/$/, `${volumes.volumes}${volumes.objects}`),
  );
  [first = "", second = ""] = ["first.img", "second.img"].map((name) => join(host.directory, name));
  for (const file of [first, second]) {
    await writeFile(file, file === first ? randomBytes(32 * mebibyte) : "");
    await chmod(file, 0o666);
  }
  await truncate(second, 48 * mebibyte);
  const { err } = await host
    .run(["--pvc", `data=${first}`, "--detach", "--wait", "agent-connected"])
    .end();
  expect(err).toContain("agent-connected");
  await inGuest(
    "head -c 4096 /dev/urandom > /tmp/mark; dd if=/tmp/mark of=/dev/vda bs=4096 seek=5000 conv=notrunc,fsync",
  );
  // Each number is on the disk before the next one is written.
  await inGuest(
    "(i=0; while :; do i=$((i+1)); printf '%08d' $i | dd of=/dev/vdb bs=512 conv=notrunc,fsync; done) >/dev/null 2>&1 &",
  );
});
afterAll(async () => await host?.[Symbol.asyncDispose]());

async function record(): Promise<VmiRecord> {
  const found = await readRecord(host.directory, "default", "demo");
  if (!found) throw new Error("there is no record of the demo");
  return found;
}

async function inGuest(script: string): Promise<string> {
  await using guest = await connectVmi(host.directory, await record());
  const { stdout, exitCode } = await guest.exec({
    command: "/bin/sh",
    args: ["-c", script],
    timeoutSeconds: 60,
  });
  expect(exitCode).toBe(0);
  return stdout.trim();
}

/** The number that the guest wrote last, as seen by the host. */
async function counted(file: string): Promise<number> {
  await using handle = await open(file);
  const { buffer } = await handle.read(Buffer.alloc(8), 0, 8, 0);
  return Number(buffer.toString());
}

/** What the launcher made for the guest, by content. */
async function media(): Promise<readonly string[]> {
  const root = `/proc/${host.launcher()}/root`;
  const paths = new DiskPaths();
  const { vmi } = await record();
  const names = [paths.cloudInit(vmi, "noCloud"), paths.configImage("configMap", "config")];
  // The sandbox's /var/run is a link that would lead into this host's.
  const files = names.map((name) => root + name.replace("/var/run/", "/run/"));
  return await Promise.all(
    files.map(async (file) =>
      createHash("sha256")
        .update(await readFile(file))
        .digest("hex"),
    ),
  );
}

const rootMark =
  "dd if=/dev/vda bs=4096 skip=5000 count=1 2>/dev/null | cmp - /tmp/mark && echo same";

test("a shared disk stays where it was, an overlay is copied, and media are made again, byte for byte", async () => {
  await until(async () => (await counted(first)) > 0, "the first count");
  const [before, made] = [await counted(first), await media()];
  expect(before).toBeGreaterThan(0);
  const { err } = await host.virtkit("migrate", "demo", "--watch");
  expect(err).toContain("it moved in");
  const atMove = await counted(first);
  expect(atMove).toBeGreaterThanOrEqual(before);
  await until(async () => (await counted(first)) > atMove, "the counter to go on");
  expect(await inGuest(rootMark)).toBe("same");
  expect(await media()).toEqual(made);
});

test("a disk is copied to a larger file with its progress shown, and the old one is stale from then on", async () => {
  const copying = ["migrate", "demo", "--watch", "--disk", `data=${second}`, "--bandwidth"];
  // At a mebibyte per second the copy takes half a minute, however late somebody looks. It is aborted as soon as it is seen.
  const slow = host.start(...copying, "1Mi");
  await slow.untilSaid(/copying disks[^\n]*\n(?: {2}vd[a-c]: \d+ % of [\d.]+ MB\n)+/);
  slow.child.kill("SIGINT");
  const aborted = await slow.end();
  expect(aborted.err).toContain("still runs where it was");
  expect(aborted.code).toBe(1);
  const atAbort = await counted(first);
  await until(async () => (await counted(first)) > atAbort, "the counter to go on in the old file");
  const { err } = await host.virtkit(...copying, "24M");
  expect(err).toContain("it moved in");
  const left = await counted(first);
  await until(async () => (await counted(second)) > left, "the counter to go on in the new file");
  expect(await counted(first)).toBe(left);
  // What the guest wrote before the move is in the copy: it kept counting, and never went back.
  expect(await inGuest(rootMark)).toBe("same");
  const small = await host.virtkit("migrate", "demo", "--disk", `data=${first}`);
  expect(small.code).toBe(1);
  expect(small.err).toContain("run: truncate");
});
