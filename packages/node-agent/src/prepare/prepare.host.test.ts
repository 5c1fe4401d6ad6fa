import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { clusterConfig } from "@virtkit/api/config";
import { stopNamespaceHelper } from "@virtkit/host-primitives/namespaces";
import { openRoot } from "@virtkit/host-primitives/safe-path";
import { createPod, type PodFixture } from "@virtkit/lab";
import { afterAll, expect, test } from "vitest";
import { openSandbox, type Sandbox } from "../sandbox/sandbox.ts";
import { sampleVmi } from "../testing/sample-vmi.ts";
import { prepare } from "./prepare.ts";
import { teardown } from "./teardown.ts";

afterAll(stopNamespaceHelper);

const config = clusterConfig({
  spec: { configuration: { developerConfiguration: { useEmulation: true } } },
});

const images = { "root/disk/disk.img": "image".repeat(1000), "boot/boot/vmlinuz": "kernel" };
const vmi = sampleVmi(
  [
    { name: "root", containerDisk: { image: "x" } },
    { name: "data", hostDisk: { path: "/data/disk.img", type: "DiskOrCreate", capacity: "2Mi" } },
  ],
  ({ spec }) => {
    spec.domain.firmware = {
      kernelBoot: { container: { image: "x", kernelPath: "/boot/vmlinuz" } },
    };
  },
);

function open(pod: PodFixture): Sandbox & Disposable {
  return openSandbox({
    podUid: pod.podUid,
    pid: pod.pid,
    containers: { root: { root: openRoot(join(pod.directory, "root")) } },
    kernelBoot: { root: openRoot(join(pod.directory, "boot")) },
  });
}

test("a sandbox is prepared, prepared again without a change, and torn down without a trace", async () => {
  await using pod = await createPod(images);
  pod.run("mkdir /dev/vfio; cd /dev/vfio; mknod -m 600 vfio c 10 196; mknod -m 600 7 c 10 197");
  const before = pod.state();
  const descriptors = readdirSync("/proc/self/fd").length;
  {
    using sandbox = open(pod);
    const options = { stateDirectory: pod.stateDirectory, config };
    const { steps, podLinks } = await prepare(vmi, sandbox, options);
    expect(steps.map(({ id }) => id)).toEqual([
      "disk/root",
      "kernel-boot",
      "kernel-boot/kernel",
      "device/dev/net/tun",
      "device/dev/vfio/7",
      "device/dev/vfio/vfio",
      "host-disk/data",
      "network",
    ]);
    expect(podLinks).toHaveProperty("tap0");
    expect(pod.run("head -c 10 /var/run/kubevirt/container-disks/disk_0.img")).toBe("imageimage");
    expect(pod.run("cat /var/run/kubevirt/container-disks/kernel-boot/vmlinuz")).toBe("kernel");
    expect(() => pod.run("echo x > /var/run/kubevirt/container-disks/disk_0.img")).toThrow(
      /Read-only/,
    );
    expect(pod.run("stat -c %u:%g /dev/net/tun /dev/vfio/7")).toBe("107:107\n107:107\n");
    expect(pod.run("stat -c %a /dev/vfio/vfio")).toBe("666\n");
    expect(pod.run("stat -c '%u %s' /var/run/kubevirt-private/vmi-disks/data/disk.img")).toBe(
      "107 2097152\n",
    );
    expect(pod.run("ip -o link show tap0")).toContain("master k6t-eth0");
    const prepared = pod.state();
    await prepare(vmi, sandbox, options);
    expect(pod.state()).toBe(prepared);
    await teardown(pod.podUid, { ...options, sandbox });
    await teardown(pod.podUid, { ...options, sandbox });
    expect(existsSync(join(pod.stateDirectory, "pods", pod.podUid))).toBe(false);
  }
  pod.run("rm /var/run/kubevirt-private/vmi-disks/data/disk.img; chmod 600 /dev/vfio/vfio");
  expect(pod.state()).toBe(before);
  expect(readdirSync("/proc/self/fd").length).toBeLessThanOrEqual(descriptors + 12);
});

test("tearing down a sandbox that is gone forgets it, but not one that is merely unknown", async () => {
  await using pod = await createPod(images);
  const options = { stateDirectory: pod.stateDirectory, config };
  const mine = (): string[] =>
    readFileSync("/proc/self/mountinfo", "utf8")
      .split("\n")
      .filter((line) => line.includes(pod.directory));
  using sandbox = open(pod);
  await prepare(vmi, sandbox, options);
  await expect(teardown(pod.podUid, options)).rejects.toMatchObject({ code: "AGENT_SANDBOX" });
  await pod.kill();
  await expect(prepare(vmi, sandbox, options)).rejects.toMatchObject({
    code: "AGENT_SANDBOX_GONE",
  });
  expect(() => open(pod)).toThrow(expect.objectContaining({ code: "AGENT_SANDBOX_GONE" }));
  await teardown(pod.podUid, options);
  await teardown(pod.podUid, { ...options, sandbox });
  expect(readdirSync(join(pod.stateDirectory, "pods"))).toEqual([]);
  expect(mine()).toEqual([]);
});
