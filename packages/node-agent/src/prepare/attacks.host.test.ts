import { join } from "node:path";
import { stopNamespaceHelper } from "@virtkit/host-primitives/namespaces";
import { openRoot } from "@virtkit/host-primitives/safe-path";
import { createPod, type PodFixture } from "@virtkit/lab";
import { afterAll, expect, test } from "vitest";
import { openSandbox, type Sandbox } from "../sandbox/sandbox.ts";
import { bindFile } from "./bind-file.ts";
import { ownEntry } from "./own-entry.ts";

afterAll(stopNamespaceHelper);

const place = "/var/run/kubevirt/container-disks";
const bind = { source: "/disk/disk.img", target: `${place}/disk_0.img`, image: true };

function open(pod: PodFixture): Sandbox & Disposable {
  const root = openRoot(join(pod.directory, "root"));
  return openSandbox({ podUid: pod.podUid, pid: pod.pid, containers: { root: { root } } });
}

async function mount(sandbox: Sandbox, change: Partial<typeof bind> = {}): Promise<void> {
  const container = sandbox.containers["root"];
  if (!container) throw new Error("no container");
  await bindFile({ ...bind, ...change }, container, sandbox);
}

test("a link where a disk is to be mounted is not followed, and nothing is mounted", async () => {
  await using pod = await createPod({ "root/disk/disk.img": "image" });
  using sandbox = open(pod);
  pod.run(`echo victim > /run/victim; ln -s /run/victim ${place}/disk_0.img`);
  await expect(mount(sandbox)).rejects.toMatchObject({ code: "HOST_PATH_UNSAFE" });
  expect(pod.run("cat /run/victim")).toBe("victim\n");
});

test("a parent link that leads out of the sandbox stays inside it", async () => {
  await using pod = await createPod({ "root/disk/disk.img": "image" });
  using sandbox = open(pod);
  pod.run(`rmdir ${place}; mkdir -p /run/inside; ln -s ../../../../../../run/inside ${place}`);
  await mount(sandbox);
  expect(pod.run("cat /run/inside/disk_0.img")).toBe("image");
});

test("rejects an image that was replaced by one with a backing file after it was found", async () => {
  const header = Buffer.alloc(512);
  header.write("QFI\xfb", 0, "latin1");
  header.writeUInt32BE(3, 4);
  header.writeBigUInt64BE(104n, 8);
  header.writeUInt32BE(11, 16);
  await using pod = await createPod({ "root/disk/disk.img": header });
  using sandbox = open(pod);
  await expect(mount(sandbox)).rejects.toMatchObject({ code: "DISK_SOURCE_REFUSED" });
  await expect(mount(sandbox, { source: "/disk" })).rejects.toMatchObject({
    code: "HOST_PATH_UNSAFE",
  });
});

test("a different mount in place of a disk is not mistaken for it", async () => {
  await using pod = await createPod({ "root/disk/disk.img": "image", "root/disk/other": "other" });
  using sandbox = open(pod);
  await mount(sandbox, { source: "/disk/other" });
  await expect(mount(sandbox)).rejects.toMatchObject({ code: "AGENT_SANDBOX" });
  await mount(sandbox, { source: "/disk/other" });
});

test("a device of the node itself is never handed out", async () => {
  await using pod = await createPod();
  using sandbox = openBare(pod);
  const own = (path: string) =>
    ownEntry(sandbox.root, { path, types: ["char"], uid: 107, gid: 107 });
  pod.run("mount -t devtmpfs none /mnt; touch /dev/zero /dev/kmsg");
  pod.run("mount --bind /mnt/zero /dev/zero; mount --bind /mnt/kmsg /dev/kmsg");
  expect(() => own("/dev/kmsg")).toThrow(expect.objectContaining({ code: "AGENT_SANDBOX" }));
  own("/dev/zero");
  expect(pod.run("stat -c %u /dev/zero /dev/kmsg")).toBe("0\n0\n");
  own("/dev/net/tun");
  expect(pod.run("stat -c %u /dev/net/tun")).toBe("107\n");
  pod.run("ln -s net/tun /dev/link");
  expect(() => own("/dev/link")).toThrow(expect.objectContaining({ code: "HOST_PATH_UNSAFE" }));
});

function openBare(pod: PodFixture): Sandbox & Disposable {
  return openSandbox({ podUid: pod.podUid, pid: pod.pid });
}
