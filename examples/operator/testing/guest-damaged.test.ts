import { type Clock, ManualClock, realClock, sleep } from "@virtkit/api/clock";
import { decodeGrant, encodeGrant } from "@virtkit/api/grant";
import { expect, test } from "vitest";
import {
  type CountingVm,
  GuestDamaged,
  isDamaged,
  keepsCounting,
  onceMoreIfDamaged,
  type SeenGuest,
  seeGuest,
} from "./guest-damaged.ts";

interface Situation {
  readonly boot?: string;
  readonly vmiUid?: string;
  readonly moves?: number;
  readonly qemu?: string;
  readonly answers?: boolean;
  readonly writes?: boolean;
  readonly isPaused?: boolean;
}

const before: SeenGuest = {
  ...{ vmiUid: "one", count: { boot: "a", beat: 4, disk: 4, at: "1" } },
  ...{ epoch: 2, qemus: ["77"] },
};

function vmIn(situation: Situation, clock: Clock = realClock): CountingVm {
  const { boot = "a", vmiUid = "one", moves = 1, answers = true } = situation;
  let count = 10;
  return {
    async counting() {
      if (!answers) {
        await sleep(clock, 90_000);
        throw new Error("not in 90000 ms");
      }
      count++;
      return { boot, beat: count, disk: count, at: "2" };
    },
    diskCount: () => (situation.writes ? count++ : count),
    async grant() {
      const holder = {
        ...{ podUID: "pod", containerID: "containerd://1", node: "node-1" },
        ...{ machineID: "machine", bootID: "boot", nonce: "nonce" },
      };
      const grant = { state: "Claimed", vmiUID: vmiUid, epoch: 1 + moves, seq: 3, holder } as const;
      return decodeGrant(encodeGrant(grant), vmiUid);
    },
    isExecuting: async () => !situation.isPaused,
    qemus: () => [situation.qemu ?? "77"],
    vmiUid: async () => vmiUid,
  };
}

test.each<[what: string, situation: Situation, damaged: boolean]>([
  ["silent after a move, and its disk too", { answers: false }, true],
  ["silent, but writing to its disk", { answers: false, writes: true }, false],
  ["silent because it is paused", { answers: false, isPaused: true }, false],
  ["silent, but it never moved", { answers: false, moves: 0 }, false],
  ["rebooted after a move, with the same VMI and QEMU", { boot: "b" }, true],
  ["rebooted since it moved once more", { boot: "b", moves: 2, qemu: "78" }, true],
  ["rebooted in another QEMU, which no move explains", { boot: "b", qemu: "78" }, false],
])("a guest that is %s: damaged by QEMU or not", async (_, situation, damaged) => {
  const clock = new ManualClock();
  const seen = seeGuest(vmIn(situation, clock), before, clock).catch((each: unknown) => each);
  await clock.pass(100_000);
  const error = await seen;
  expect(error).toBeInstanceOf(Error);
  expect(isDamaged(error)).toBe(damaged);
});

test.each<[what: string, situation: Situation]>([
  ["that counts", {}],
  ["of a new VMI", { boot: "b", vmiUid: "two", moves: 0 }],
  ["that rebooted, and that QEMU cannot have damaged", { boot: "b", moves: 0 }],
])("a guest %s is seen", async (_, situation) => {
  const seen = await seeGuest(vmIn(situation), before);
  const { boot = "a", vmiUid = "one" } = situation;
  expect(seen).toMatchObject({ vmiUid, count: { boot } });
});

test("another guest does not count on, and the error names both", async () => {
  await expect(keepsCounting(vmIn({}), before)).resolves.toMatchObject({ vmiUid: "one" });
  const other = vmIn({ boot: "b", vmiUid: "two", moves: 0 });
  await expect(keepsCounting(other, before)).rejects.toThrow(/VMI one, boot a.*VMI two, boot b/);
  const later: SeenGuest = { ...before, count: { ...before.count, disk: 99 } };
  await expect(keepsCounting(vmIn({}), later)).rejects.toThrow("an earlier number");
});

test("a damaged guest is replaced once, and other failures are not repeated", async () => {
  let calls = 0;
  const failing = (error: Error) => async () => {
    calls++;
    throw error;
  };
  const damaged = new Error("a case", { cause: new GuestDamaged("it no longer counts") });
  await expect(onceMoreIfDamaged(failing(damaged))).rejects.toBe(damaged);
  expect(calls).toBe(2);
  await expect(onceMoreIfDamaged(failing(new Error("lost")))).rejects.toThrow("lost");
  expect(calls).toBe(3);
});
