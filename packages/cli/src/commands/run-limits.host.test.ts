import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ownCgroupLayout } from "@virtkit/host-primitives/cgroups";
import { guestDisk } from "@virtkit/lab";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Run } from "../testing/run-virtkit.ts";
import { VirtkitProcess } from "../testing/virtkit-process.ts";

const image = "registry.example/virtkit/demo:latest";
const demo = new URL("../../../../examples/vms/demo.yaml", import.meta.url);

/** A guest with two busy CPUs, a limit of one, and endless console output. */
const greedy = {
  disk: "        - name: seed\n          disk:\n            bus: virtio\n",
  volume: `    - name: seed
      cloudInitNoCloud:
        userData: |
          #!/bin/sh
          (while :; do :; done) &
          (while :; do :; done) &
          seq 1 1000000000 > /dev/console &
`,
};

const { unified = "", controllers } = ownCgroupLayout();
const patience = { timeout: 90_000, interval: 100 };

let directory: string;
let podUid: string;
let vmiUid: string;

const virtkit = async (...args: string[]): Promise<Run> =>
  await new VirtkitProcess(args, { VIRTKIT_STATE_DIR: directory }).end();

/** A file of the Pod's cgroup, by its name in version 1 and in version 2. */
function cgroupFile(controller: string, v1: string, v2 = v1): string {
  const root = controllers[controller];
  return join(root ?? unified, "virtkit", podUid, root === undefined ? v2 : v1);
}

const read = (controller: string, v1: string, v2?: string): string =>
  readFileSync(cgroupFile(controller, v1, v2), "utf8").trim();

const counted = (name: string): number =>
  Number(new RegExp(`^${name} (\\d+)$`, "m").exec(read("cpu", "cpu.stat"))?.[1]);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "virtkit-limits-"));
  const file = join(directory, "vm.yaml");
  const text = (await readFile(demo, "utf8"))
    .replace("cores: 1\n", "cores: 2\n    resources:\n      limits:\n        cpu: 1\n")
    .replace("      interfaces:\n", `${greedy.disk}      interfaces:\n`)
    .concat(greedy.volume);
  await writeFile(file, text);
  const flags = ["--image", `${image}=${await guestDisk()}`, "--pids-limit", "600", "--detach"];
  expect(await virtkit("run", "-f", file, ...flags)).toMatchObject({ code: 0 });
  const vmis = join(directory, "vmis");
  const [record = ""] = readdirSync(vmis);
  const found = JSON.parse(readFileSync(join(vmis, record), "utf8")) as {
    podUid: string;
    vmi: { metadata: { uid: string } };
  };
  podUid = found.podUid;
  vmiUid = found.vmi.metadata.uid;
});

afterAll(async () => {
  await virtkit("rm", "--now", "demo");
  await rm(directory, { recursive: true, force: true });
});

test("the manifest's limits are those of QEMU's cgroup", () => {
  expect(read("cpu", "cpu.cfs_quota_us", "cpu.max")).toMatch(/^100000( 100000)?$/);
  expect(read("pids", "pids.max")).toBe("600");
  expect(Number(read("memory", "memory.limit_in_bytes", "memory.max"))).toBeLessThan(2 ** 31);
  for (const controller of ["cpu", "memory", "pids"]) {
    const names = read(controller, "cgroup.procs")
      .split("\n")
      .map((pid) => readFileSync(`/proc/${pid}/comm`, "utf8").trim());
    expect(names.join(" ")).toContain("qemu-system");
  }
});

test("a guest that uses more CPU than its limit is throttled", async () => {
  await expect.poll(() => counted("nr_throttled"), patience).toBeGreaterThan(10);
  // Control: only the limit holds it back.
  writeFileSync(
    cgroupFile("cpu", "cpu.cfs_quota_us", "cpu.max"),
    controllers["cpu"] ? "-1" : "max",
  );
  const before = counted("nr_throttled");
  const ticks = (): number => {
    const [qemu] = read("cpu", "cgroup.procs")
      .split("\n")
      .filter((pid) => readFileSync(`/proc/${pid}/comm`, "utf8").startsWith("qemu-system"));
    return Number(readFileSync(`/proc/${qemu}/stat`, "utf8").split(" ")[13]);
  };
  const end = ticks() + 300;
  await expect.poll(ticks, patience).toBeGreaterThan(end);
  expect(counted("nr_throttled")).toBeLessThanOrEqual(before + 1);
});

test("its output goes through the daemon that rotates the log", async () => {
  const folder = join(directory, "pods", podUid, "volumes/kubernetes.io~empty-dir");
  const log = join(folder, "private", vmiUid, "virt-serial0-log");
  await expect
    .poll(() => (existsSync(log) ? statSync(log).size : 0), patience)
    .toBeGreaterThan(64 * 1024);
  const qemu = read("cpu", "cgroup.procs")
    .split("\n")
    .find((pid) => readFileSync(`/proc/${pid}/comm`, "utf8").startsWith("qemu-system"));
  const line = readFileSync(`/proc/${qemu}/cmdline`, "utf8");
  // QEMU has no path that it could write to without a bound, only the end of a pipe.
  expect(line).toContain("logfile=/dev/fdset/");
  expect(line).not.toContain("virt-serial0-log");
});
