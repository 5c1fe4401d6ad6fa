import { clusterConfig } from "@virtkit/api/config";
import { stopNamespaceHelper } from "@virtkit/host-primitives/namespaces";
import { createPod, type PodFixture } from "@virtkit/lab";
import { afterAll, expect, test } from "vitest";
import { openSandbox } from "../sandbox/sandbox.ts";
import { sampleVmi } from "../testing/sample-vmi.ts";
import { prepare } from "./prepare.ts";
import { type Progress, teardown } from "./teardown.ts";

afterAll(stopNamespaceHelper);

const config = clusterConfig({
  spec: { configuration: { developerConfiguration: { useEmulation: true } } },
});
const images = { "root/disk/disk.img": "image".repeat(1000), "boot/boot/vmlinuz": "kernel" };
const volumes = "/var/run/kubevirt-image-volume";
const disks = "/var/run/kubevirt/container-disks";

const vmi = sampleVmi(
  [
    { name: "data", emptyDisk: { capacity: "1Gi" } },
    { name: "root", containerDisk: { image: "x" } },
  ],
  ({ spec }) => {
    spec.domain.firmware = {
      kernelBoot: { container: { image: "x", kernelPath: "/boot/vmlinuz" } },
    };
  },
);

/** A Pod as a kubelet makes it where images are volumes: without a directory for container disks. */
async function createImagePod(): Promise<PodFixture> {
  const pod = await createPod(images);
  const kernelBoot = "/var/run/kubevirt-kernel-boot";
  pod.run(`rmdir ${disks}; mkdir -p ${volumes}/disk_1 ${kernelBoot}`);
  pod.run(`mount -o ro,bind ${pod.directory}/root ${volumes}/disk_1`);
  pod.run(`mount -o ro,bind ${pod.directory}/boot ${kernelBoot}`);
  return pod;
}

test("a Pod with image volumes is prepared, prepared again and torn down without a trace", async () => {
  await using pod = await createImagePod();
  const before = pod.state();
  using sandbox = openSandbox({ podUid: pod.podUid, pid: pod.pid });
  const options = { stateDirectory: pod.stateDirectory, config };
  const { steps } = await prepare(vmi, sandbox, options);
  expect(steps.map(({ id }) => id).slice(0, 4)).toEqual([
    "container-disks",
    "disk/root",
    "kernel-boot",
    "kernel-boot/kernel",
  ]);
  expect(pod.run(`stat -c %u:%g:%a ${disks}`)).toBe("107:107:755\n");
  expect(pod.run(`head -c 10 ${disks}/disk_1.img`)).toBe("imageimage");
  expect(pod.run(`cat ${disks}/kernel-boot/vmlinuz`)).toBe("kernel");
  const prepared = pod.state();
  await prepare(vmi, sandbox, options);
  expect(pod.state()).toBe(prepared);
  await teardown(pod.podUid, { ...options, sandbox });
  expect(pod.state()).toBe(before);
});

test.each(["begun", "carried-out"])(
  "a preparation that stops when the directory's step is %s is finished by the next one, and undone",
  async (mark) => {
    await using pod = await createImagePod();
    const before = pod.state();
    using sandbox = openSandbox({ podUid: pod.podUid, pid: pod.pid });
    const options = { stateDirectory: pod.stateDirectory, config };
    const stop = (progress: Progress): void => {
      if (progress.mark === mark && progress.step.id === "container-disks") throw new Error("stop");
    };
    const stopped = () => prepare(vmi, sandbox, { ...options, onProgress: stop });
    await expect(stopped()).rejects.toThrow("stop");
    await teardown(pod.podUid, { ...options, sandbox });
    expect(pod.state()).toBe(before);
    await expect(stopped()).rejects.toThrow("stop");
    // As where the directory was made and not yet given away.
    pod.run(`mkdir -p ${disks}; chown 0:0 ${disks}`);
    await prepare(vmi, sandbox, options);
    expect(pod.run(`stat -c %u:%g:%a ${disks}`)).toBe("107:107:755\n");
    await teardown(pod.podUid, { ...options, sandbox });
    expect(pod.state()).toBe(before);
  },
);

test("rejects a link in place of an image volume or of the directory", async () => {
  await using pod = await createImagePod();
  using sandbox = openSandbox({ podUid: pod.podUid, pid: pod.pid });
  const options = { stateDirectory: pod.stateDirectory, config };
  pod.run(`mkdir /run/victim; ln -s /run/victim ${disks}`);
  await expect(prepare(vmi, sandbox, options)).rejects.toMatchObject({
    path: "container-disks",
    cause: { code: "HOST_PATH_UNSAFE" },
  });
  expect(pod.run("stat -c %u /run/victim")).toBe("0\n");
  // Control: who trusts the path gives the victim away.
  pod.run(`mkdir -p ${disks}; chown 107 ${disks}`);
  expect(pod.run("stat -c %u /run/victim")).toBe("107\n");
  await teardown(pod.podUid, { ...options, sandbox });
  pod.run(`rm ${disks}; mv ${volumes} /run/elsewhere; mkdir ${volumes}`);
  pod.run(`ln -s /run/elsewhere/disk_1 ${volumes}/disk_1`);
  await expect(prepare(vmi, sandbox, options)).rejects.toMatchObject({ code: "HOST_PATH_UNSAFE" });
});

test("a path that is not a mount is not an image volume, and one used by others is not handed out", async () => {
  await using pod = await createImagePod();
  using sandbox = openSandbox({ podUid: pod.podUid, pid: pod.pid });
  const options = { stateDirectory: pod.stateDirectory, config };
  pod.run(`mkdir ${disks}; touch ${disks}/theirs`);
  await expect(prepare(vmi, sandbox, options)).rejects.toMatchObject({
    path: "container-disks",
    cause: { code: "AGENT_SANDBOX" },
  });
  expect(pod.run(`stat -c %u ${disks}`)).toBe("0\n");
  await teardown(pod.podUid, { ...options, sandbox });
  pod.run(`rm ${disks}/theirs; umount ${volumes}/disk_1; mkdir ${volumes}/disk_1/disk`);
  pod.run(`echo image > ${volumes}/disk_1/disk/disk.img`);
  await expect(prepare(vmi, sandbox, options)).rejects.toMatchObject({
    code: "AGENT_SANDBOX",
    path: "spec.volumes[1].containerDisk",
  });
});
