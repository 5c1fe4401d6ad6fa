import { readdir, stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { type Libvirtd, runProgram, startLibvirtd } from "@virtkit/lab";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { connectLibvirt, type Libvirt } from "../libvirt/libvirt.ts";
import type { GuestEvent } from "../status/guest-event.ts";
import {
  createTaps,
  type LauncherRoom,
  labVmi,
  launcherRoom,
  syncRequest,
} from "../testing/vmi-fixture.ts";
import { createDomainManager } from "./create-domain-manager.ts";
import type { DomainManager } from "./domain-manager.ts";
import type { GuestIdentity } from "./run-right.ts";

const owner = { uid: 107, gid: 107 };
const patience = { timeout: 100_000 };
const poll = { timeout: 60_000, interval: 100 };
const reconnect = { firstDelay: 10, lastDelay: 500 };

let daemon: Libvirtd;
let room: LauncherRoom;
let guests = 0;

beforeAll(async () => {
  daemon = await startLibvirtd();
  room = await launcherRoom(daemon);
  await createTaps(daemon, "tap0");
});

afterAll(async () => {
  await daemon?.[Symbol.asyncDispose]();
});

/** A guest for one test, with a manager; both are removed after it. */
async function guest(volumes: NonNullable<Parameters<typeof labVmi>[1]>["volumes"] = []) {
  const number = String(++guests).padStart(4, "0");
  const identity: GuestIdentity = {
    namespace: "ns",
    name: `vm${guests}`,
    vmiUid: `0c5b9fae-${number}-4b6e-9d30-0f5d2d1a0001`,
    podUid: "pod-1",
  };
  const disks = volumes.map(({ name }) => ({ name, disk: { bus: "virtio" as const } }));
  const vmi = labVmi(identity, {
    domain: { devices: { disks, autoattachPodInterface: false }, memory: { guest: "128Mi" } },
    volumes,
  });
  const request = syncRequest(identity, vmi, { environment: { disksInfo: rawDisks } });
  const libvirt = await connectLibvirt({ uri: daemon.uri, reconnect });
  const manager = await managerOf(libvirt, identity);
  onTestFinished(async () => {
    await manager.kill(patience).catch(() => {});
    await manager.delete(patience).catch(() => {});
    await manager[Symbol.asyncDispose]();
    await libvirt.close();
  });
  return { identity, request, libvirt, manager, domain: `ns_${identity.name}` };
}

const rawDisks = { root: { format: "raw" } };

async function managerOf(libvirt: Libvirt, identity: GuestIdentity): Promise<DomainManager> {
  const options = { libvirt, identity, names: room.names, disks: { owner } };
  return await createDomainManager(options);
}

/** Pid of a guest's QEMU in the daemon's sandbox. */
async function qemuPid(domain: string): Promise<string> {
  return (await daemon.run("pgrep", "-f", `guest=${domain},`)).trim();
}

test("libvirtd killed under a running guest: no guest is lost, and the manager keeps working", async () => {
  const { request, manager, domain } = await guest();
  await manager.syncVmi(request, patience);
  const pid = await qemuPid(domain);
  await daemon.kill("KILL");
  // Asked while nobody can answer: it waits for the daemon's return.
  const waiting = manager.status(patience);
  await daemon.restart();
  expect((await waiting).state).toBe("Running");
  const again = await manager.syncVmi(request, patience);
  expect(again).toMatchObject({ state: "Running" });
  expect(again.pending).toBe(undefined);
  expect(await qemuPid(domain)).toBe(pid);
  await manager.pause(patience);
  expect(await manager.status(patience)).toMatchObject({ state: "Paused", reason: "User" });
});

test("QEMU killed: the status says so, and no sync starts the guest again", async () => {
  const { request, manager, domain } = await guest();
  await manager.syncVmi(request, patience);
  const seen: GuestEvent[] = [];
  const controller = new AbortController();
  const following = (async () => {
    for await (const event of manager.events({ signal: controller.signal })) seen.push(event);
  })();
  await daemon.runAsRoot("kill", "-9", await qemuPid(domain));
  await expect
    .poll(() => seen.map((event) => event.kind === "status" && event.status), poll)
    .toContainEqual(expect.objectContaining({ state: "Shutoff", reason: "Crashed" }));
  controller.abort();
  await following;
  expect(await manager.status(patience)).toMatchObject({ state: "Shutoff", reason: "Crashed" });
  expect((await manager.syncVmi(request, patience)).state).toBe("Shutoff");
});

test("disk full while an overlay is made: nothing incomplete is left, and there is no guest", async () => {
  const { request, manager } = await guest([{ name: "root", containerDisk: { image: "lab" } }]);
  const { containerDisks, ephemeralDisks } = room.names.directories;
  await runProgram("qemu-img", ["create", "-q", "-f", "raw", `${containerDisks}/disk_0.img`, "1G"]);
  const place = `${ephemeralDisks}/disk-data`;
  await runProgram("mkdir", ["-p", place]);
  await runProgram("mount", ["-t", "tmpfs", "-o", "size=4k", "full", place]);
  try {
    await expect(manager.syncVmi(request, patience)).rejects.toMatchObject({
      code: "DOMAIN_DISK",
      cause: { code: "DISK_FULL" },
    });
    const left = await readdir(place, { recursive: true, withFileTypes: true });
    expect(left.filter((entry) => entry.isFile())).toEqual([]);
    expect((await manager.status(patience)).state).toBe("Absent");
  } finally {
    await runProgram("umount", [place]);
  }
  expect((await manager.syncVmi(request, patience)).state).toBe("Running");
  expect((await stat(`${place}/root/disk.qcow2`)).uid).toBe(owner.uid);
});

test("a crash between define and create: the next sync starts the guest", async () => {
  const { request, identity, libvirt, manager, domain } = await guest();
  const call = libvirt.call.bind(libvirt);
  libvirt.call = async (name, ...rest) => {
    if (name === "domainCreate") throw new Error("the process was killed");
    return await call(name, ...rest);
  };
  await expect(manager.syncVmi(request, patience)).rejects.toThrow("the process was killed");
  libvirt.call = call;
  expect(await daemon.virsh("domstate", domain)).toBe("shut off");
  const own = await connectLibvirt({ uri: daemon.uri });
  const fresh = await managerOf(own, identity);
  expect((await fresh.syncVmi(request, patience)).state).toBe("Running");
  await fresh[Symbol.asyncDispose]();
  await own.close();
});

test("kill ends a guest and its QEMU at once", async () => {
  const { request, manager, domain } = await guest();
  await manager.syncVmi(request, patience);
  expect(await qemuPid(domain)).toMatch(/^\d+$/);
  await manager.kill(patience);
  expect(await manager.status(patience)).toMatchObject({ state: "Shutoff", reason: "Destroyed" });
  await expect(qemuPid(domain)).rejects.toThrow();
  expect((await manager.syncVmi(request, patience)).state).toBe("Shutoff");
  await manager.kill(patience);
});

test.each([0, 30, 100, 300])(
  "kill %i ms after a sync began leaves no QEMU, whatever the sync had done",
  async (delay) => {
    const { request, manager, domain } = await guest();
    const syncing = manager.syncVmi(request, patience).catch((error: unknown) => error);
    await sleep(delay);
    await manager.kill(patience);
    await expect(qemuPid(domain)).rejects.toThrow();
    await syncing;
    expect((await manager.status(patience)).state).toMatch(/^(Absent|Shutoff)$/);
    await expect(qemuPid(domain)).rejects.toThrow();
  },
);
