import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { type Libvirtd, runProgram, startLibvirtd } from "@virtkit/lab";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { connectLibvirt, type Libvirt } from "../libvirt/libvirt.ts";
import { fullIdentity, fullVmi, pluggedVmi } from "../testing/full-vmi.ts";
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
import { createDomainManager } from "./create-domain-manager.ts";
import type { DomainManager } from "./domain-manager.ts";

const identity = fullIdentity;
const base = fullVmi;
const grown = pluggedVmi;
const owner = { uid: 107, gid: 107 };
/** A loaded host takes its time. */
const patience = { timeout: 100_000 };
const poll = { timeout: 60_000, interval: 200 };

let daemon: Libvirtd;
let libvirt: Libvirt;
let agentLibvirt: Libvirt;
let room: LauncherRoom;
let manager: DomainManager;
const stages: string[] = [];

beforeAll(async () => {
  daemon = await startLibvirtd();
  room = await launcherRoom(daemon);
  await createTaps(daemon, "tap0", "tap16477688c0e");
  libvirt = await connectLibvirt({ uri: daemon.uri });
  agentLibvirt = await connectLibvirt({ uri: daemon.uri });
  const image = `${room.names.directories.containerDisks}/disk_0.img`;
  await runProgram("qemu-img", ["create", "-q", "-f", "raw", image, "32M"]);
  await runProgram("mkfs.ext4", ["-q", "-F", image]);
  const secret = `${room.names.directories.private}/secret/keys-access-cred`;
  await mkdir(secret, { recursive: true });
  await writeFile(`${secret}/key`, "ssh-ed25519 AAAA one\n");
  manager = await createDomainManager({
    libvirt,
    agentLibvirt,
    identity,
    names: room.names,
    disks: { owner },
    onStage: ({ stage, state }) => stages.push(`${stage} ${state}`),
  });
});

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

test("a VMI becomes a running guest whose agent answers", async () => {
  const status = await sync(base);
  expect(status).toMatchObject({ name: "ns_vm1", state: "Running" });
  expect(status.pending).toBe(undefined);
  expect(stages).toEqual(["domain-defined done", "guest-running done"]);
  await untilAgent(manager);
  const result = await manager.exec({
    command: "/bin/sh",
    args: ["-c", "echo out; exit 3"],
    timeoutSeconds: 60,
  });
  expect(result).toMatchObject({ exitCode: 3, stdout: "out\n" });
});

test("a second sync changes nothing", async () => {
  const before = await daemon.virsh("dumpxml", "ns_vm1");
  expect((await sync(base)).pending).toBe(undefined);
  expect(await daemon.virsh("dumpxml", "ns_vm1")).toBe(before);
});

test("the guest has read its cloud-init data, and has the right disks", async () => {
  const find = "cat $(grep -l cloud-config /mnt/*/user-data)";
  expect(await inGuest(manager, find)).toBe("#cloud-config\nhostname: größe\n");
  expect(await inGuest(manager, "cat /sys/block/vdc/size")).toBe(`${(64 << 20) / 512}\n`);
});

test("a disk and a card are plugged in while it runs, and the guest sees them", async () => {
  const image = `${room.names.directories.hotplugDisks}/data.img`;
  const waiting = await sync(grown);
  expect(waiting.pending).toMatchObject([
    { effect: "retry", summary: expect.stringContaining('attach the disk "data"') },
  ]);
  await runProgram("qemu-img", ["create", "-q", "-f", "raw", image, "16M"]);
  await runProgram("chown", ["107:107", image]);
  expect((await sync(grown)).pending).toBe(undefined);
  await expect
    .poll(
      async () => await inGuest(manager, "cat /sys/block/sda/size /sys/class/net/*/address"),
      poll,
    )
    .toMatch(/^32768\n[\s\S]*02:00:00:00:00:02/);
});

test("a link goes down and up", async () => {
  const down = structuredClone(grown);
  const card = down.spec.domain.devices?.interfaces?.[1];
  if (card) card.state = "down";
  await sync(down);
  expect(await daemon.virsh("domif-getlink", "ns_vm1", "tap16477688c0e")).toContain("down");
  await sync(grown);
  expect(await daemon.virsh("domif-getlink", "ns_vm1", "tap16477688c0e")).toContain("up");
});

test("unplugs them again", async () => {
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
});

test("a CPU waits for a Pod with room for it, and is then plugged in", async () => {
  const more = structuredClone(base);
  if (more.spec.domain.cpu) more.spec.domain.cpu.sockets = 2;
  expect((await sync(more)).pending).toMatchObject([{ effect: "needs-migration" }]);
  expect((await sync(more, { podFits: true })).pending).toBe(undefined);
  await expect
    .poll(async () => await inGuest(manager, "grep -c processor /proc/cpuinfo"), poll)
    .toBe("2\n");
});

test("a guest that a user paused stays paused until it is unpaused with a proof", async () => {
  await manager.pause(patience);
  await manager.pause(patience);
  expect(await manager.status(patience)).toMatchObject({ state: "Paused", reason: "User" });
  expect((await sync(base)).state).toBe("Paused");
  await manager.guestPing({ timeoutSeconds: 1 });
  const { mayRun } = syncRequest(identity, base);
  await manager.unpause(mayRun, patience);
  await manager.unpause(mayRun, patience);
  expect(await manager.status(patience)).toMatchObject({ state: "Running" });
  await untilAgent(manager);
});

test("freezes file systems, and thaws them by hand or automatically", async () => {
  await manager.freeze({ unfreezeAfterSeconds: 0 }, patience);
  await manager.freeze({ unfreezeAfterSeconds: 0 }, patience);
  // While the file systems are frozen, the agent runs no program that could write.
  const refused = expect.objectContaining({ code: "DOMAIN_AGENT" });
  await expect(manager.exec({ command: "/bin/true", timeoutSeconds: 60 })).rejects.toEqual(refused);
  await manager.unfreeze(patience);
  await manager.unfreeze(patience);
  expect(await manager.exec({ command: "/bin/true", timeoutSeconds: 60 })).toMatchObject({
    exitCode: 0,
  });
  await manager.freeze({ unfreezeAfterSeconds: 1 }, patience);
  const write = "echo x > /mnt/vda/x && sync && cat /mnt/vda/x";
  await expect.poll(async () => await inGuest(manager, write), poll).toBe("x\n");
});

test("reads stats, users, file systems, a picture and the memory", async () => {
  expect(await manager.stats(patience)).toMatchObject({ "vcpu.current": 2, "block.0.name": "vda" });
  expect(await manager.users(patience)).toMatchObject([{ userName: "root" }]);
  expect(await manager.fileSystems(patience)).toMatchObject([
    { mountPoint: expect.any(String) },
    {},
  ]);
  const { mime, data } = await manager.screenshot(patience);
  expect(mime).toMatch(/^image\//);
  expect(data.length).toBeGreaterThan(1000);
  const path = `${daemon.directory}/launcher/private/memory.dump`;
  await manager.memoryDump({ path });
  expect((await readFile(path)).subarray(0, 4).toString("latin1")).toBe("\x7fELF");
  await rm(path);
  await untilAgent(manager);
});

test("brings SSH keys into the guest through its agent", async () => {
  await expect
    .poll(async () => (await manager.status(patience)).accessCredentials, poll)
    .toEqual({ synced: true });
  expect(await inGuest(manager, "cat /root/.ssh/authorized_keys")).toMatch(/^ssh-ed25519 AAAA one/);
});

/** KiB of memory that a guest has. */
async function memoryOf(of: DomainManager): Promise<number> {
  const text = await inGuest(of, "cat /proc/meminfo");
  return Number(/MemTotal:\s+(\d+)/.exec(text)?.[1]);
}

test("a second guest runs beside it, gets more memory, and ends when it powers itself off", async () => {
  const other = { ...identity, name: "vm2", vmiUid: "0c5b9fae-0002-4b6e-9d30-0f5d2d1a0002" };
  const vmi = labVmi(other, {
    domain: {
      devices: { autoattachPodInterface: false },
      memory: { guest: "1Gi", maxGuest: "2Gi" },
    },
  });
  const own = await connectLibvirt({ uri: daemon.uri });
  const options = { libvirt: own, agentLibvirt, names: room.names, disks: { owner } };
  const second = await createDomainManager({ ...options, identity: other });
  onTestFinished(async () => {
    await second[Symbol.asyncDispose]();
    await own.close();
  });
  await second.syncVmi(syncRequest(other, vmi), patience);
  await untilAgent(second);
  const bootId = "cat /proc/sys/kernel/random/boot_id";
  expect(await inGuest(second, bootId)).not.toBe(await inGuest(manager, bootId));
  const more = structuredClone(vmi);
  more.spec.domain.memory = { guest: "1280Mi", maxGuest: "2Gi" };
  const before = await memoryOf(second);
  const larger = { ...syncRequest(other, more), podFits: true };
  expect((await second.syncVmi(larger, patience)).pending).toBe(undefined);
  await expect.poll(async () => (await memoryOf(second)) - before, poll).toBe(256 << 10);
  expect((await second.syncVmi(larger, patience)).pending).toBe(undefined);
  await second.exec({ command: "/bin/poweroff", args: ["-f"] }).catch(() => {});
  await expect
    .poll(async () => await second.status(patience), poll)
    .toMatchObject({ state: "Shutoff", reason: "Shutdown" });
  await second.delete(patience);
  expect(await second.status(patience)).toMatchObject({ state: "Absent" });
  expect(await manager.status(patience)).toMatchObject({ state: "Running" });
});

test("a soft reboot and a reset boot it again", async () => {
  const bootId = async () => await inGuest(manager, "cat /proc/sys/kernel/random/boot_id");
  const first = await bootId();
  await manager.softReboot(patience);
  await expect.poll(bootId, { ...poll, timeout: 100_000 }).not.toBe(first);
  const second = await bootId();
  await manager.reset(patience);
  await expect.poll(bootId, { ...poll, timeout: 100_000 }).not.toBe(second);
}, 250_000);

test("a guest that shuts down has ended, and is never started again", async () => {
  await manager.shutdown(patience);
  await manager.shutdown(patience);
  await expect.poll(async () => (await manager.status(patience)).state, poll).toBe("Shutoff");
  expect(await manager.status(patience)).toMatchObject({ reason: "Shutdown" });
  await manager.shutdown(patience);
  await manager.kill(patience);
  expect((await sync(base)).state).toBe("Shutoff");
  await daemon.kill("KILL");
  await daemon.restart();
  const again = await connectLibvirt({ uri: daemon.uri });
  const fresh = await createDomainManager({ libvirt: again, identity, names: room.names });
  expect((await fresh.syncVmi(syncRequest(identity, base, { environment }), patience)).state).toBe(
    "Shutoff",
  );
  await fresh.delete(patience);
  await fresh.delete(patience);
  expect(await daemon.virsh("list", "--all", "--name")).toBe("");
  await expect(fresh.syncVmi(syncRequest(identity, base), patience)).rejects.toMatchObject({
    code: "DOMAIN_NOT_GRANTED",
  });
  await fresh[Symbol.asyncDispose]();
  await again.close();
});
