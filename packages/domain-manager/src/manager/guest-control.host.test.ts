import { until } from "@virtkit/api/clock";
import { type Libvirtd, runProgram, startLibvirtd } from "@virtkit/lab";
import { guestControlChecks } from "@virtkit/testing/hypervisor/checks";
import { afterAll, beforeAll, describe, onTestFinished, test } from "vitest";
import { connectLibvirt } from "../libvirt/libvirt.ts";
import { type LauncherRoom, labVmi, launcherRoom, syncRequest } from "../testing/vmi-fixture.ts";
import { createDomainManager } from "./create-domain-manager.ts";
import { MayRun } from "./may-run.ts";
import type { GuestIdentity } from "./run-right.ts";

const patience = { timeout: 100_000 };
const environment = { disksInfo: { root: { format: "raw" } } };

let daemon: Libvirtd;
let room: LauncherRoom;
let guests = 0;

beforeAll(async () => {
  daemon = await startLibvirtd();
  room = await launcherRoom(daemon);
  const image = `${room.names.directories.containerDisks}/disk_0.img`;
  await runProgram("qemu-img", ["create", "-q", "-f", "raw", image, "16M"]);
  await runProgram("mkfs.ext4", ["-q", "-F", image]);
});

afterAll(async () => {
  await daemon?.[Symbol.asyncDispose]();
});

/** A manager for one guest; both are removed after the test. */
async function createGuest(identity: GuestIdentity) {
  const libvirt = await connectLibvirt({ uri: daemon.uri });
  const agentLibvirt = await connectLibvirt({ uri: daemon.uri });
  const guest = await createDomainManager({
    libvirt,
    agentLibvirt,
    identity,
    names: room.names,
    disks: { owner: { uid: 107, gid: 107 } },
  });
  onTestFinished(async () => {
    await guest.kill(patience);
    await guest.delete(patience);
    await guest[Symbol.asyncDispose]();
    await libvirt.close();
    await agentLibvirt.close();
  });
  return guest;
}

async function endFromOutside(domain: string, how: "qemu-ends" | "destroyed"): Promise<void> {
  if (how === "destroyed") {
    await daemon.virsh("destroy", domain);
    return;
  }
  // The brackets keep the pattern from matching itself; the comma, from matching a guest whose name
  // only begins like this one.
  const found = await daemon.runAsRoot("pgrep", "-f", `[g]uest=${domain},`);
  await daemon.runAsRoot("kill", "-9", ...found.trim().split("\n"));
}

describe("a guest of libvirt and QEMU", () => {
  test.each(guestControlChecks)("$name", { timeout: 200_000 }, async ({ check }) => {
    const number = String(++guests).padStart(4, "0");
    const vmiUid = `0c5b9fae-${number}-4b6e-9d30-0f5d2d1a0007`;
    const identity = { namespace: "checks", name: `vm${guests}`, vmiUid, podUid: "pod-1" };
    const guest = await createGuest(identity);
    await check({
      guest,
      request: ({ grant, spec } = {}) => {
        const disks = [{ name: "root", disk: { bus: "virtio" as const } }];
        const vmi = labVmi(identity, {
          domain: { devices: { disks, autoattachPodInterface: false }, memory: { guest: "128Mi" } },
          volumes: [{ name: "root", containerDisk: { image: "lab" } }],
          ...spec,
        });
        const mayRun = MayRun.fromAgent({ vmiUid, podUid: "pod-1", epoch: 1, ...grant });
        return { ...syncRequest(identity, vmi, { environment }), mayRun };
      },
      endFromOutside: async (how) => await endFromOutside(`checks_${identity.name}`, how),
      dumpPath: `${room.names.directories.private}/memory.dump`,
      until: async (holds) => {
        const held = await until(holds, { interval: 100, timeout: 90_000 });
        if (!held) throw new Error("it did not come to that in 90 s");
      },
    });
  });
});
