import assert from "node:assert/strict";
import { until } from "@virtkit/api/clock";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { type GuestEvent, MayRun, type SyncRequest } from "@virtkit/domain-manager";
import { describe, expect, test } from "vitest";
import { SeededRandom } from "../virtual-time/seeded-random.ts";
import { VirtualClock } from "../virtual-time/virtual-clock.ts";
import { type GuestCheckContext, guestControlChecks } from "./checks/index.ts";
import type { GuestScript } from "./guest-script.ts";
import { SimulatedGuest } from "./simulated-guest.ts";

const identity = { namespace: "ns", name: "vm", vmiUid: "vmi-1", podUid: "pod-1" };

const vmi: VirtualMachineInstance = {
  apiVersion: "kubevirt.io/v1",
  kind: "VirtualMachineInstance",
  metadata: { namespace: "ns", name: "vm", uid: "vmi-1" },
  spec: {
    domain: { devices: { disks: [{ name: "root", disk: { bus: "virtio" } }] } },
    volumes: [{ name: "root", containerDisk: { image: "demo" } }],
  },
};

function requestOf({
  grant,
  spec,
}: NonNullable<Parameters<GuestCheckContext["request"]>[0]> = {}): SyncRequest {
  const { vmiUid, podUid } = identity;
  return {
    vmi: { ...vmi, spec: { ...vmi.spec, ...spec } },
    context: {} as SyncRequest["context"],
    mayRun: MayRun.fromAgent({ vmiUid, podUid, epoch: 1, ...grant }),
  };
}

/** A guest on a clock of its own. */
function simulate(script: GuestScript = {}) {
  const clock = new VirtualClock();
  const random = new SeededRandom(1);
  return { clock, guest: new SimulatedGuest({ identity, clock, random, script }) };
}

/** Lets time pass until something is done. */
async function inTime<T>(clock: VirtualClock, work: Promise<T>): Promise<T> {
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  work.then(over, over);
  await clock.passUntil(() => isOver);
  return await work;
}

/** One that runs and has been for a minute. */
async function running(script: GuestScript = {}) {
  const { clock, guest } = simulate(script);
  await inTime(clock, guest.syncVmi(requestOf()));
  const events: GuestEvent[] = [];
  void (async () => {
    for await (const event of guest.events()) events.push(event);
  })();
  await clock.pass(60_000);
  const told = (kind: GuestEvent["kind"]) => events.filter((event) => event.kind === kind);
  return { clock, guest, events, told };
}

/** What the script of the suite's checks prints. */
function shell(command: string, args: readonly string[]) {
  if (command !== "/bin/sh") return { exitCode: 0, stdout: "", stderr: "" };
  assert.equal(args[1], "echo out; echo oops >&2; exit 3");
  return { exitCode: 3, stdout: "out\n", stderr: "oops\n" };
}

describe("a simulated guest", () => {
  test.each(guestControlChecks)("$name", async ({ check }) => {
    const { clock, guest } = simulate({ exec: shell });
    const context: GuestCheckContext = {
      guest,
      request: requestOf,
      endFromOutside: async (kind) => guest.happen({ kind }),
      dumpPath: "/dump",
      until: async (holds) => {
        const held = await until(holds, { clock, interval: 100, timeout: 90_000 });
        assert.ok(held, "it did not come to that in 90 s");
      },
    };
    await inTime(clock, check(context));
  });
});

test("the checks catch a planted guest that forgets why it is paused", async () => {
  const { clock, guest } = simulate();
  const forgetful = new Proxy(guest, {
    get: (target, key) => {
      if (key === "status") return async () => ({ ...(await target.status()), reason: "Unknown" });
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const paused = guestControlChecks.find(({ name }) => name.startsWith("a guest is paused"));
  const work = paused?.check({
    guest: forgetful,
    request: requestOf,
    endFromOutside: async (kind) => guest.happen({ kind }),
    dumpPath: "/dump",
    until: async () => undefined,
  });
  await expect(inTime(clock, work ?? Promise.resolve())).rejects.toThrow("User");
});

test("when an answer is lost, the verb has taken effect and the caller times out", async () => {
  const { clock, guest } = await running();
  guest.loseReply("pause");
  await expect(inTime(clock, guest.pause({ timeout: 1_000 }))).rejects.toMatchObject({
    code: "DOMAIN_TIMEOUT",
  });
  expect(await guest.status()).toMatchObject({ state: "Paused", reason: "User" });
  await guest.unpause(requestOf().mayRun);
  expect(await guest.status()).toMatchObject({ state: "Running" });
});

test("when a disk fails, the guest is paused, says why, and continues when unpaused", async () => {
  const { guest, told } = await running();
  guest.happen({ kind: "io-error", volume: "root", reason: "enospc" });
  expect(await guest.status()).toMatchObject({ state: "Paused", reason: "IOError" });
  await expect(guest.guestPing({ timeoutSeconds: 1 })).rejects.toMatchObject({
    code: "DOMAIN_STATE",
  });
  expect((await guest.syncVmi(requestOf())).state).toBe("Paused");
  await guest.unpause(requestOf().mayRun);
  await guest.guestPing({ timeoutSeconds: 1 });
  expect(told("incident")).toMatchObject([
    { reason: "IOerror", message: expect.stringContaining("no space is left for volume root") },
  ]);
});

test.each([
  ["power-off", "Shutdown", []],
  ["panic", "Crashed", ["GuestPanicked"]],
  ["qemu-ends", "Crashed", []],
  ["destroyed", "Destroyed", []],
] as const)("its script ends it by %s: Shutoff, %s", async (kind, reason, incidents) => {
  const { guest, told } = await running({ happens: [{ after: 30_000, what: { kind } }] });
  expect(await guest.status()).toMatchObject({ state: "Shutoff", reason, agent: "disconnected" });
  expect(told("incident").map((event) => "reason" in event && event.reason)).toEqual(incidents);
});

test("QEMU can end while the guest is paused", async () => {
  const { guest } = await running();
  await guest.pause();
  guest.happen({ kind: "power-off" });
  expect(await guest.status()).toMatchObject({ state: "Paused" });
  guest.happen({ kind: "qemu-ends" });
  expect(await guest.status()).toMatchObject({ state: "Shutoff", reason: "Crashed" });
});

test("a hotplugged disk appears in the status and disappears again", async () => {
  const { guest } = await running();
  const disks = [
    { name: "root", disk: { bus: "virtio" as const } },
    { name: "data", disk: { bus: "scsi" as const } },
  ];
  const volumes = [
    ...(vmi.spec.volumes ?? []),
    { name: "data", persistentVolumeClaim: { claimName: "data", hotpluggable: true } },
  ];
  const more = requestOf({ spec: { domain: { devices: { disks } }, volumes } });
  expect((await guest.syncVmi(more)).disks).toEqual([
    { volume: "root", target: "vda" },
    { volume: "data", target: "sda" },
  ]);
  expect((await guest.syncVmi(requestOf())).disks).toEqual([{ volume: "root", target: "vda" }]);
});

test("a guest that does not obey, or has not booted, ignores a shutdown request", async () => {
  const { clock, guest } = await running({ shutdown: undefined });
  await guest.shutdown();
  await clock.pass(600_000);
  expect(await guest.status()).toMatchObject({ state: "Running" });
  const early = simulate();
  await inTime(early.clock, early.guest.syncVmi(requestOf()));
  await early.guest.shutdown();
  await early.clock.pass(600_000);
  expect(await early.guest.status()).toMatchObject({ state: "Running" });
});

test("a paused guest does not boot, because its time stops", async () => {
  const { clock, guest } = simulate();
  await inTime(clock, guest.syncVmi(requestOf()));
  await clock.pass(4_000);
  await guest.pause();
  await clock.pass(600_000);
  expect(await guest.status()).toMatchObject({ agent: "disconnected" });
  await guest.unpause(requestOf().mayRun);
  await clock.pass(999);
  expect(await guest.status()).toMatchObject({ agent: "disconnected" });
  await clock.pass(1);
  expect(await guest.status()).toMatchObject({ agent: "connected", hostname: "guest" });
});

test("a kill takes precedence over a running sync, which then starts nothing", async () => {
  const { clock, guest } = simulate({ prepare: 5_000 });
  const sync = guest.syncVmi(requestOf());
  const overtaken = expect(sync).rejects.toMatchObject({ code: "DOMAIN_STATE" });
  await clock.pass(1_000);
  await guest.kill();
  await overtaken;
  await clock.pass(60_000);
  expect(await guest.status()).toMatchObject({ state: "Absent" });
});

test("the guest is paused while its memory is dumped", async () => {
  const { clock, guest } = await running();
  const dump = guest.memoryDump({ path: "/dump" });
  await clock.pass(500);
  expect(await guest.status()).toMatchObject({ state: "Paused", reason: "Dump" });
  await inTime(clock, dump);
  expect(await guest.status()).toMatchObject({ state: "Running" });
  expect(guest.dumps).toEqual(["/dump"]);
});

test("a soft reboot boots it again, and its agent comes back", async () => {
  const { clock, guest, events } = await running();
  await guest.softReboot();
  await clock.pass(60_000);
  const agents = events.flatMap((event) => (event.kind === "status" ? [event.status.agent] : []));
  const changes = agents.filter((agent, index) => agent !== agents[index - 1]);
  expect(changes).toEqual(["disconnected", "connected", "disconnected", "connected"]);
  expect(await guest.status()).toMatchObject({ state: "Running", fsFreeze: "thawed" });
});

test("subscribers who missed events learn that, and then get the whole status", async () => {
  const { clock, guest, events } = await running();
  guest.happen({ kind: "events-missed" });
  await clock.pass(0);
  expect(events.slice(-2)).toMatchObject([
    { kind: "resync" },
    { kind: "status", status: { state: "Running" } },
  ]);
});
