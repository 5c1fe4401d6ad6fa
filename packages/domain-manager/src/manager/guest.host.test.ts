import { readFile, rm } from "node:fs/promises";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { type Libvirtd, runProgram, startLibvirtd } from "@virtkit/lab";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectLibvirt, type Libvirt } from "../libvirt/libvirt.ts";
import {
  createTaps,
  inGuest,
  type LauncherRoom,
  labVmi,
  launcherRoom,
  podLinks,
  syncRequest,
  untilAgent,
} from "../testing/vmi-fixture.ts";
import { createDomainManager, type DomainManager } from "./domain-manager.ts";
import type { GuestIdentity } from "./run-right.ts";

const identity: GuestIdentity = {
  namespace: "ns",
  name: "vm1",
  vmiUid: "0c5b9fae-0001-4b6e-9d30-0f5d2d1a0001",
  podUid: "pod-1",
};
const owner = { uid: 107, gid: 107 };
/** A loaded machine takes its time. */
const patience = { timeout: 100_000 };
const poll = { timeout: 60_000, interval: 200 };

let daemon: Libvirtd;
let libvirt: Libvirt;
let agentLibvirt: Libvirt;
let room: LauncherRoom;
let manager: DomainManager;
const stages: string[] = [];

const base = labVmi(identity, {
  domain: {
    cpu: { model: "qemu64", sockets: 1, cores: 1, threads: 1, maxSockets: 2 },
    devices: {
      disks: [
        { name: "root", disk: { bus: "virtio" } },
        { name: "init", disk: { bus: "virtio" } },
        { name: "scratch", disk: { bus: "virtio" } },
      ],
      interfaces: [{ name: "default", masquerade: {} }],
    },
  },
  networks: [{ name: "default", pod: {} }],
  volumes: [
    { name: "root", containerDisk: { image: "lab" } },
    { name: "init", cloudInitNoCloud: { userData: "#cloud-config\nhostname: größe\n" } },
    { name: "scratch", emptyDisk: { capacity: "64Mi" } },
  ],
});

/** The VMI with a disk and a network that were plugged in while it ran. */
const grown: VirtualMachineInstance = {
  ...base,
  spec: {
    ...base.spec,
    domain: {
      ...base.spec.domain,
      devices: {
        ...base.spec.domain.devices,
        disks: [
          ...(base.spec.domain.devices?.disks ?? []),
          { name: "data", serial: "data-serial", disk: { bus: "scsi" } },
        ],
        interfaces: [
          ...(base.spec.domain.devices?.interfaces ?? []),
          { name: "blue", bridge: {}, macAddress: "02:00:00:00:00:02" },
        ],
      },
    },
    networks: [...(base.spec.networks ?? []), { name: "blue", multus: { networkName: "blue" } }],
    volumes: [
      ...(base.spec.volumes ?? []),
      { name: "data", persistentVolumeClaim: { claimName: "data", hotpluggable: true } },
    ],
  },
  status: {
    volumeStatus: [
      ...["root", "init", "scratch"].map((name) => ({ name, target: "" })),
      { name: "data", target: "", hotplugVolume: {}, phase: "Ready" },
    ],
  },
} as unknown as VirtualMachineInstance;

beforeAll(async () => {
  daemon = await startLibvirtd();
  room = await launcherRoom(daemon);
  await createTaps(daemon, "tap0", "tap16477688c0e");
  libvirt = await connectLibvirt({ uri: daemon.uri });
  agentLibvirt = await connectLibvirt({ uri: daemon.uri });
  const image = `${room.names.directories.containerDisks}/disk_0.img`;
  await runProgram("qemu-img", ["create", "-q", "-f", "raw", image, "32M"]);
  await runProgram("mkfs.ext4", ["-q", "-F", image]);
  manager = await createDomainManager({
    libvirt,
    agentLibvirt,
    identity,
    names: room.names,
    disks: { owner },
    onStage: ({ stage, state }) => stages.push(`${stage} ${state}`),
  });
}, 120_000);

afterAll(async () => {
  await manager?.[Symbol.asyncDispose]();
  await libvirt?.close();
  await agentLibvirt?.close();
  await daemon?.[Symbol.asyncDispose]();
});

const environment = { disksInfo: { root: { format: "raw" } } };
const sync = async (vmi: VirtualMachineInstance, options = {}) =>
  await manager.syncVmi(
    { ...syncRequest(identity, vmi, { environment, pod: pod() }), ...options },
    patience,
  );
const pod = () => ({
  podLinks: { ...podLinks, pod16477688c0e: { mtu: 1500 }, tap16477688c0e: {} },
});

test("a VMI becomes a guest that runs and whose agent answers", async () => {
  const status = await sync(base);
  expect(status).toMatchObject({ name: "ns_vm1", state: "Running" });
  expect(status.pending).toBe(undefined);
  expect(stages).toEqual(["domain-defined done", "guest-running done"]);
  await untilAgent(manager);
  const result = await manager.exec({ command: "/bin/sh", args: ["-c", "echo out; exit 3"] });
  expect(result).toMatchObject({ exitCode: 3, stdout: "out\n" });
}, 150_000);

test("a second sync changes nothing", async () => {
  const before = await daemon.virsh("dumpxml", "ns_vm1");
  expect((await sync(base)).pending).toBe(undefined);
  expect(await daemon.virsh("dumpxml", "ns_vm1")).toBe(before);
});

test("the guest has read its cloud-init data, and its disks are what they should be", async () => {
  const find = "cat $(grep -l cloud-config /mnt/*/user-data)";
  expect(await inGuest(manager, find)).toBe("#cloud-config\nhostname: größe\n");
  expect(await inGuest(manager, "cat /sys/block/vdc/size")).toBe(`${(64 << 20) / 512}\n`);
});

test("a disk and a card are plugged in while it runs, and the guest sees them", async () => {
  const image = `${room.names.directories.hotplugDisks}/data.img`;
  const waiting = await sync(grown);
  expect(waiting.pending).toMatchObject([{ effect: "retry", summary: /attach the disk "data"/ }]);
  await runProgram("qemu-img", ["create", "-q", "-f", "raw", image, "16M"]);
  await runProgram("chown", ["107:107", image]);
  expect((await sync(grown)).pending).toBe(undefined);
  await expect
    .poll(
      async () => await inGuest(manager, "cat /sys/block/sda/size /sys/class/net/*/address"),
      poll,
    )
    .toMatch(/^32768\n[\s\S]*02:00:00:00:00:02/);
}, 120_000);

test("a link goes down and up", async () => {
  const down = structuredClone(grown);
  const card = down.spec.domain.devices?.interfaces?.[1];
  if (card) card.state = "down";
  await sync(down);
  expect(await daemon.virsh("domif-getlink", "ns_vm1", "tap16477688c0e")).toContain("down");
  await sync(grown);
  expect(await daemon.virsh("domif-getlink", "ns_vm1", "tap16477688c0e")).toContain("up");
});

test("they are unplugged again", async () => {
  const absent = structuredClone(grown);
  const { devices } = absent.spec.domain;
  if (devices?.disks) devices.disks = devices.disks.filter(({ name }) => name !== "data");
  absent.spec.volumes = (absent.spec.volumes ?? []).filter(({ name }) => name !== "data");
  const card = devices?.interfaces?.[1];
  if (card) card.state = "absent";
  await sync(absent);
  await expect
    .poll(async () => {
      await sync(absent);
      return await inGuest(manager, "ls /sys/block; cat /sys/class/net/*/address");
    }, poll)
    .not.toMatch(/sda|02:00:00:00:00:02/);
}, 120_000);

test("a CPU waits for a Pod with room for it, and is plugged in once there is one", async () => {
  const more = structuredClone(base);
  if (more.spec.domain.cpu) more.spec.domain.cpu.sockets = 2;
  expect((await sync(more)).pending).toMatchObject([{ effect: "needs-migration" }]);
  expect((await sync(more, { podFits: true })).pending).toBe(undefined);
  await expect
    .poll(async () => await inGuest(manager, "grep -c processor /proc/cpuinfo"), poll)
    .toBe("2\n");
}, 120_000);

test("a guest that is paused by a user stays paused until it is unpaused with a proof", async () => {
  await manager.pause();
  await manager.pause();
  expect(await manager.status()).toMatchObject({ state: "Paused", reason: "User" });
  expect((await sync(base)).state).toBe("Paused");
  await manager.guestPing({ timeoutSeconds: 1 });
  const { mayRun } = syncRequest(identity, base);
  await manager.unpause(mayRun);
  await manager.unpause(mayRun);
  expect(await manager.status()).toMatchObject({ state: "Running" });
  await untilAgent(manager);
}, 120_000);

test("file systems are frozen, and thawed by hand or by themselves", async () => {
  await manager.freeze({ unfreezeAfterSeconds: 0 });
  await manager.freeze({ unfreezeAfterSeconds: 0 });
  // An agent runs no program that could write while it holds the file systems still.
  const refused = expect.objectContaining({ code: "DOMAIN_AGENT" });
  await expect(manager.exec({ command: "/bin/true" })).rejects.toEqual(refused);
  await manager.unfreeze();
  await manager.unfreeze();
  expect(await manager.exec({ command: "/bin/true" })).toMatchObject({ exitCode: 0 });
  await manager.freeze({ unfreezeAfterSeconds: 1 });
  await expect(manager.exec({ command: "/bin/true" })).rejects.toEqual(refused);
  const write = "echo x > /mnt/vda/x && sync && cat /mnt/vda/x";
  await expect.poll(async () => await inGuest(manager, write), poll).toBe("x\n");
}, 120_000);

test("stats, users, file systems, a picture and the memory can be read", async () => {
  expect(await manager.stats()).toMatchObject({ "vcpu.current": 2, "block.0.name": "vda" });
  expect(await manager.users()).toMatchObject([{ userName: "root" }]);
  expect(await manager.fileSystems()).toMatchObject([{ mountPoint: expect.any(String) }, {}]);
  const { mime, data } = await manager.screenshot(patience);
  expect(mime).toMatch(/^image\//);
  expect(data.length).toBeGreaterThan(1000);
  const path = `${daemon.directory}/launcher/private/memory.dump`;
  await manager.memoryDump({ path });
  expect((await readFile(path)).subarray(0, 4).toString("latin1")).toBe("\x7fELF");
  await rm(path);
  await untilAgent(manager);
}, 120_000);

test("a second guest runs beside it, and ends when it powers itself off", async () => {
  const other = { ...identity, name: "vm2", vmiUid: "0c5b9fae-0002-4b6e-9d30-0f5d2d1a0002" };
  const vmi = labVmi(other, {
    domain: { devices: { autoattachPodInterface: false }, memory: { guest: "192Mi" } },
  });
  await using own = await connectLibvirt({ uri: daemon.uri });
  await using second = await createDomainManager({
    libvirt: own,
    agentLibvirt,
    identity: other,
    names: room.names,
    disks: { owner },
  });
  await second.syncVmi(syncRequest(other, vmi), patience);
  await untilAgent(second);
  const bootId = "cat /proc/sys/kernel/random/boot_id";
  expect(await inGuest(second, bootId)).not.toBe(await inGuest(manager, bootId));
  await second.exec({ command: "/bin/poweroff", args: ["-f"] }).catch(() => {});
  await expect
    .poll(async () => await second.status(), poll)
    .toMatchObject({ state: "Shutoff", reason: "Shutdown" });
  await second.delete();
  expect(await second.status()).toMatchObject({ state: "Absent" });
  expect(await manager.status()).toMatchObject({ state: "Running" });
}, 150_000);

test("a soft reboot and a reset boot it anew", async () => {
  const bootId = async () => await inGuest(manager, "cat /proc/sys/kernel/random/boot_id");
  const first = await bootId();
  await manager.softReboot();
  await expect.poll(bootId, { ...poll, timeout: 100_000 }).not.toBe(first);
  const second = await bootId();
  await manager.reset();
  await expect.poll(bootId, { ...poll, timeout: 100_000 }).not.toBe(second);
}, 250_000);

test("a guest that shuts down has ended, and is never started again", async () => {
  await manager.shutdown();
  await manager.shutdown();
  await expect.poll(async () => (await manager.status()).state, poll).toBe("Shutoff");
  expect(await manager.status()).toMatchObject({ reason: "Shutdown" });
  await manager.shutdown();
  await manager.kill();
  expect((await sync(base)).state).toBe("Shutoff");
  await daemon.kill("KILL");
  await daemon.restart();
  const again = await connectLibvirt({ uri: daemon.uri });
  await using fresh = await createDomainManager({ libvirt: again, identity, names: room.names });
  expect((await fresh.syncVmi(syncRequest(identity, base, { environment }), patience)).state).toBe(
    "Shutoff",
  );
  await fresh.delete();
  await fresh.delete();
  expect(await daemon.virsh("list", "--all", "--name")).toBe("");
  await expect(fresh.syncVmi(syncRequest(identity, base), patience)).rejects.toMatchObject({
    code: "DOMAIN_NOT_GRANTED",
  });
  await again.close();
}, 120_000);
