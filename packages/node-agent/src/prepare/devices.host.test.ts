import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { clusterConfig } from "@virtkit/api/config";
import { ownCgroupLayout } from "@virtkit/host-primitives/cgroups";
import { stopNamespaceHelper } from "@virtkit/host-primitives/namespaces";
import { getProcessLimit, ProcessHandle } from "@virtkit/host-primitives/process";
import { createPod } from "@virtkit/lab";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { openSandbox } from "../sandbox/sandbox.ts";
import { sampleVmi } from "../testing/sample-vmi.ts";
import { setLockLimit } from "./lock-limit.ts";
import { prepare } from "./prepare.ts";
import { teardown } from "./teardown.ts";

afterAll(stopNamespaceHelper);

const config = clusterConfig({
  spec: { configuration: { developerConfiguration: { useEmulation: true } } },
});
const vmi = sampleVmi([], ({ spec }) => {
  spec.domain.devices.rng = {};
});
const layout = ownCgroupLayout();
const roots = { 1: layout.controllers["devices"], 2: layout.unified };

test.for([1, 2] as const)(
  "a sandbox whose cgroup (v%i) the agent manages can use only its own devices",
  async (version, { skip }) => {
    const root = roots[version] ?? "";
    skip(root === "", `this host has no v${version} hierarchy for devices`);
    const path = `/vkagent${process.pid.toString(36)}v${version}`;
    mkdirSync(join(root, path));
    onTestFinished(async () => {
      await expect
        .poll(() => rmdirSync(join(root, path)) ?? true, { timeout: 20_000, interval: 20 })
        .toBe(true);
    });
    await using pod = await createPod();
    pod.run("mknod -m 666 /dev/urandom c 1 9; mknod -m 666 /dev/kmsg c 1 11");
    const inside = (command: string): string =>
      pod.run(`echo $$ > ${join(root, path, "cgroup.procs")}; ${command}`);
    using sandbox = openSandbox({
      podUid: pod.podUid,
      pid: pod.pid,
      cgroup: { version, root, path },
    });
    const options = { stateDirectory: pod.stateDirectory, config };
    inside("exec 3</dev/kmsg");
    await prepare(vmi, sandbox, options);
    await prepare(vmi, sandbox, options);
    expect(inside("head -c1 /dev/urandom | wc -c")).toMatch(/1/);
    inside("exec 3<>/dev/net/tun");
    expect(() => inside("exec 3</dev/kmsg")).toThrow(/not permitted/);
    await teardown(pod.podUid, { ...options, sandbox });
  },
);

test("the limit on locked memory applies to all processes of a sandbox, and to no others", async () => {
  await using pod = await createPod();
  await using other = await createPod();
  using process = ProcessHandle.open(pod.pid);
  using stranger = ProcessHandle.open(other.pid);
  const before = getProcessLimit(stranger, "memlock");
  // Ends with its pid namespace.
  spawn("nsenter", ["-t", String(pod.pid), "-p", "sleep", "1000"], { stdio: "ignore" });
  const inside = await expect
    .poll(() => processOf(pod.pid, "sleep"), { timeout: 20_000 })
    .not.toBeUndefined()
    .then(() => processOf(pod.pid, "sleep") ?? 0);
  using second = ProcessHandle.open(inside);
  // Lower than before: raising it takes a privilege that not every host gives.
  setLockLimit(process, 65_536n);
  const lowered = { soft: 65_536n, hard: 65_536n };
  expect(getProcessLimit(process, "memlock")).toEqual(lowered);
  expect(getProcessLimit(second, "memlock")).toEqual(lowered);
  expect(getProcessLimit(stranger, "memlock")).toEqual(before);
});

/** Another process than the first one in the pid namespace of that one. */
function processOf(first: number, command: string): number | undefined {
  const space = (pid: number | string): string => {
    try {
      return readlinkSync(`/proc/${pid}/ns/pid`);
    } catch {
      return "";
    }
  };
  const found = readdirSync("/proc").find(
    (pid) =>
      /^\d+$/.test(pid) &&
      Number(pid) !== first &&
      space(pid) === space(first) &&
      readFileSync(`/proc/${pid}/comm`, "utf8").trim() === command,
  );
  return found === undefined ? undefined : Number(found);
}

test("mounts a disk from a container with its own mount namespace", async () => {
  const script =
    "mount --make-rprivate /; mount -t tmpfs none /mnt; mkdir /mnt/disk; echo image > /mnt/disk/d; echo ready; exec sleep 1000";
  const container = spawn("unshare", ["--mount", "sh", "-c", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(async () => {
    const ended = once(container, "exit");
    container.kill("SIGKILL");
    await ended;
  });
  await once(container.stdout, "data");
  await using pod = await createPod();
  using owner = ProcessHandle.open(container.pid ?? 0);
  using sandbox = openSandbox({
    podUid: pod.podUid,
    pid: pod.pid,
    containers: { root: { root: owner.openRoot(), mounts: owner.openNamespace("mount") } },
  });
  const disk = sampleVmi([{ name: "root", containerDisk: { image: "x", path: "/mnt/disk/d" } }]);
  const options = { stateDirectory: pod.stateDirectory, config };
  const { facts } = await prepare(disk, sandbox, options);
  expect(facts.images["root"]).toEqual({ path: "/mnt/disk/d", format: "raw", virtualSize: 6n });
  expect(pod.run("cat /run/kubevirt/container-disks/disk_0.img")).toBe("image\n");
  await teardown(pod.podUid, { ...options, sandbox });
  expect(pod.run("ls /run/kubevirt/container-disks")).toBe("");
});
