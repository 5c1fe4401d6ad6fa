import assert from "node:assert/strict";
import { until } from "@virtkit/api/clock";
import type { Claimed, Holder } from "@virtkit/api/grant";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { MayRun, type SyncRequest } from "@virtkit/domain-manager";
import type { ReceiveRequest } from "@virtkit/launcher/channel";
import { describe, expect, test } from "vitest";
import { SeededRandom } from "../../virtual-time/seeded-random.ts";
import { VirtualClock } from "../../virtual-time/virtual-clock.ts";
import { type MigrationCheckContext, migrationChecks } from "../checks/index.ts";
import { CheckedMigration } from "../checks/migration-check.ts";
import type { GuestScript } from "../guest-script.ts";
import { SimulatedGuest } from "../simulated-guest.ts";
import { MigrationWires } from "./migration-wires.ts";
import { SimulatedMigrations } from "./simulated-migrations.ts";

const vmiUid = "vmi-1";
const mebibyte = 2 ** 20;
const vmi: VirtualMachineInstance = {
  metadata: { namespace: "ns", name: "vm", uid: vmiUid },
  spec: { domain: { devices: {}, memory: { guest: "256Mi" } } },
};

interface Side {
  readonly guest: SimulatedGuest;
  readonly verbs: SimulatedMigrations;
  readonly holder: Holder;
  state(): Promise<"running" | "paused" | "ended">;
}

function sideOn(
  node: string,
  wires: MigrationWires,
  clock: VirtualClock,
  script: GuestScript,
): Side {
  const podUID = `pod-${node}`;
  const identity = { namespace: "ns", name: "vm", vmiUid, podUid: podUID };
  const guest = new SimulatedGuest({ identity, clock, random: new SeededRandom(1), script });
  const verbs = new SimulatedMigrations({ guest, wires, node, clock });
  const holder = { podUID, containerID: node, node, machineID: node, bootID: node, nonce: node };
  const state = async () => {
    const { state: found } = await guest.status();
    return found === "Running" ? "running" : found === "Paused" ? "paused" : "ended";
  };
  return { guest, verbs, holder, state };
}

async function inTime<T>(clock: VirtualClock, work: Promise<T>): Promise<T> {
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  work.then(over, over);
  await clock.passUntil(() => isOver);
  return await work;
}

/** Two launchers, and a guest that has been running for a minute. */
async function twoSides(script: GuestScript = {}) {
  const clock = new VirtualClock();
  const wires = new MigrationWires({ clock, bandwidth: 200 * mebibyte });
  const source = sideOn("a", wires, clock, script);
  const target = sideOn("b", wires, clock, script);
  const { podUID: podUid } = source.holder;
  const mayRun = MayRun.fromAgent({ vmiUid, podUid, epoch: 1 });
  const context = {} as SyncRequest["context"];
  await inTime(clock, source.guest.syncVmi({ vmi, context, mayRun }));
  await clock.pass(60_000);
  const grant: Claimed = {
    ...{ state: "Claimed", vmiUID: vmiUid, epoch: 1, seq: 1, holder: source.holder },
  };
  const check: MigrationCheckContext = {
    ...{ source, target, grant, migrationUID: "m-1" },
    async begin(migration, options) {
      const { uuid = "" } = await source.guest.status();
      await target.verbs.receiveMigration({
        ...{ migration, holder: target.holder, domain: uuid, listen: "", serve: "", peer: "" },
        guest: { vmi, context: {} as ReceiveRequest["guest"]["context"] },
      });
      const { holder } = source;
      await source.verbs.migrate({ migration, holder, vmi, options, serve: "", peer: "" });
    },
    dirty: async (isOn) => source.guest.dirty(isOn ? 400 * mebibyte : 0, 32 * mebibyte),
    async pause(isPaused) {
      const one = (await source.state()) === "ended" ? target : source;
      const { podUID } = one.holder;
      const epoch = one === target ? 2 : 1;
      if (isPaused) await one.guest.pause();
      else await one.guest.unpause(MayRun.fromAgent({ vmiUid, podUid: podUID, epoch }));
    },
    breakStream: async () => wires.breakStreams(),
    blockStream: async (isBlocked) => wires.blockStreams(isBlocked),
    slowStream: (isSlow) => {
      wires.bandwidth = (isSlow ? 4 : 200) * mebibyte;
    },
    untilAlive: async () => {},
    loseReply: (message) => wires.loseReply(message),
    async until(holds) {
      const held = await until(holds, { clock, interval: 100, timeout: 90_000 });
      assert.ok(held, "it did not come to that in 90 s");
    },
  };
  return { clock, wires, source, target, check };
}

describe("two simulated launchers", () => {
  test.each(migrationChecks)("$name", async ({ check }) => {
    const given = await twoSides();
    await inTime(given.clock, check(given.check));
  });
});

const ends = (move: { ends: readonly { outcome?: string; settled?: string }[] }) =>
  move.ends.map(({ outcome, settled }) => [outcome, settled]);
const moved = [
  ["moved", "ended"],
  ["runs", "runs"],
];
const stayed = [
  ["stayed", "runs"],
  ["ended", "ended"],
];

test("the checks catch a planted launcher whose source does not end", async () => {
  const given = await twoSides();
  given.source.guest.domain.end = () => {};
  const check = migrationChecks.find(({ name }) => name.startsWith("a guest moves"));
  const work = inTime(given.clock, check?.check(given.check) ?? Promise.resolve());
  await expect(work).rejects.toThrow("paused");
});

test("the guest is paused no longer than allowed, and its time continues where it was", async () => {
  const given = await twoSides({ dirty: { bytesPerSecond: 20 * mebibyte }, agent: 90_000 });
  const { clock, source, target } = given;
  const standing: number[] = [];
  void (async () => {
    for await (const event of source.guest.events()) {
      if (event.kind === "status" && event.status.state === "Paused") standing.push(clock.now());
    }
  })();
  const runs: number[] = [];
  void (async () => {
    for await (const event of target.guest.events()) {
      if (event.kind === "status" && event.status.state === "Running") runs.push(clock.now());
    }
  })();
  const move = new CheckedMigration(given.check);
  await inTime(clock, move.begin());
  expect(ends(await inTime(clock, move.follow()))).toEqual(moved);
  const downtime = (runs[0] ?? 0) - (standing[0] ?? 0);
  expect(downtime).toBeGreaterThan(0);
  expect(downtime).toBeLessThanOrEqual(310);
  expect((await target.guest.status()).agent).toBe("disconnected");
  await clock.pass(40_000);
  expect((await target.guest.status()).agent).toBe("connected");
});

test("a guest that writes too fast is slowed down until it moves", async () => {
  const given = await twoSides();
  await given.check.dirty(true);
  const move = new CheckedMigration(given.check);
  await inTime(given.clock, move.begin({ bandwidth: "16Mi", allowAutoConverge: true }));
  const followed = await inTime(given.clock, move.follow());
  expect(ends(followed)).toEqual(moved);
  const throttled = followed.reports.map(({ progress }) => progress?.throttlePercent ?? 0);
  expect(Math.max(...throttled)).toBeGreaterThan(20);
});

test.each([
  ["is paused", false],
  ["switches to post-copy", true],
] as const)("a guest that is out of time %s where allowed", async (_, allowPostCopy) => {
  const given = await twoSides();
  await given.check.dirty(true);
  const move = new CheckedMigration(given.check);
  const may = { allowPostCopy, allowWorkloadDisruption: true, completionTimeoutPerGiB: 30 };
  await inTime(given.clock, move.begin({ bandwidth: "16Mi", ...may }));
  const followed = await inTime(given.clock, move.follow());
  expect(ends(followed)).toEqual(moved);
  const modes = followed.reports.map(({ progress }) => progress?.mode);
  expect(modes).toContain(allowPostCopy ? "PostCopy" : "Paused");
});

test("nodes partitioned in the middle of a copy give up, and the target ends as the grant says", async () => {
  const given = await twoSides();
  const { clock, wires } = given;
  const move = new CheckedMigration(given.check);
  await inTime(clock, move.begin({ bandwidth: "4Mi", progressTimeout: 20 }));
  const following = move.follow();
  await clock.pass(2_000);
  wires.cut();
  await clock.pass(120_000);
  expect([await given.source.state(), await given.target.state()]).toEqual(["running", "ended"]);
  wires.mend();
  expect(ends(await inTime(clock, following))).toEqual(stayed);
});

test("a guest with a broken post-copy is stopped, and nothing more happens in it", async () => {
  const given = await twoSides({ agent: 90_000 });
  const { clock, wires, source, target } = given;
  const move = new CheckedMigration(given.check);
  wires.bandwidth = 4 * mebibyte;
  await inTime(clock, move.begin({ allowPostCopy: true, allowWorkloadDisruption: true }));
  void move.follow();
  await clock.pass(1_000);
  const { migrationUID } = move.migration;
  await inTime(clock, source.verbs.switchToPostCopy({ migrationUID }));
  await clock.pass(1_000);
  wires.blockStreams(true);
  await clock.pass(60_000);
  const states = [await source.guest.status(), await target.guest.status()];
  expect(states.map(({ state, reason, agent }) => `${state} ${reason} ${agent}`)).toEqual([
    "Paused PostcopyFailed disconnected",
    "Running Unknown disconnected",
  ]);
  wires.blockStreams(false);
  await clock.pass(60_000);
  expect((await target.guest.status()).agent).toBe("connected");
});
