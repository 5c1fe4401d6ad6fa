import { ManualClock } from "@virtkit/api/clock";
import { afterEach, expect, test } from "vitest";
import { DecisionFile, type TargetEnd, type TargetState } from "../handover/index.ts";
import { FakeLibvirt } from "../testing/fake-libvirt.ts";
import {
  handingOver,
  MemoryGrantStore,
  migration,
  sourceHolder,
  targetHolder,
  temporaryDirectory,
} from "../testing/handover-fixture.ts";
import { handoverGrant } from "./drive-grant.ts";
import type { SourceParts } from "./drive-parts.ts";
import { followSource } from "./follow-source.ts";

const directory = temporaryDirectory(afterEach);
const { migrationUID } = migration;
const never = (): Promise<never> => new Promise(() => {});

/** A source whose post-copy has failed, and a target that lacks memory. */
function broken(state: TargetState = "incomplete") {
  const libvirt = new FakeLibvirt("paused (postcopyFailed)");
  const store = new MemoryGrantStore();
  store.grant = { ...handingOver, state: "Committed" };
  const decision = new DecisionFile(directory(), migrationUID);
  decision.begin({ ...migration, paused: false });
  decision.settle({ outcome: "committed", migrationUID });
  const target: TargetEnd = {
    ...{ prepare: never, release: never, finish: never, abort: never },
    state: async () => state,
  };
  const parts: SourceParts = {
    ...{ libvirt, migration, decision, target, grant: handoverGrant(store, sourceHolder) },
    domain: "5d307ca9-b3ef-428c-8861-06e72d69f223",
  };
  /** The target is whole, and has claimed. */
  const claim = (): void => {
    const { vmiUID, epoch, seq } = migration;
    store.grant = { state: "Claimed", vmiUID, epoch: epoch + 1, seq, holder: targetHolder };
  };
  return { libvirt, parts, claim, store };
}

test("a broken post-copy is recovered after attempts that failed, and the source ends when the target has claimed", async () => {
  const { parts, libvirt, claim, store } = broken();
  const clock = new ManualClock();
  const at: number[] = [];
  const whys: string[] = [];
  const following = followSource(parts, {
    clock,
    onWait: ({ why }) => whys.push(why),
    recover: async () => {
      at.push(clock.now());
      if (at.length < 8) throw new Error(`no way ${at.length}`);
      claim();
    },
  });
  await clock.pass(90_000);
  const between = at.slice(1).map((each, index) => each - (at[index] ?? 0));
  expect(between).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000]);
  // Nothing was destroyed, and nobody has the grant.
  expect(libvirt.changes).not.toContain("domainDestroy");
  expect(store.grant.state).toBe("Committed");
  expect(whys[0]).toMatch(/recover the post-copy/);
  expect(whys[0]).not.toMatch(/last attempt/);
  expect(whys.at(-1)).toMatch(/recover the post-copy.*; the last attempt failed: no way 7$/);
  await clock.pass(2_000);
  expect(at).toHaveLength(8);
  expect(await following).toMatchObject({ source: "ended", record: { outcome: "committed" } });
  expect(libvirt.changes).toContain("domainDestroy");
});

test("there is never a second attempt while one is in progress", async () => {
  const { parts, claim } = broken();
  const clock = new ManualClock();
  let attempts = 0;
  let end = (): void => {};
  const following = followSource(parts, {
    clock,
    recover: async () => {
      attempts++;
      await new Promise<void>((resolve) => {
        end = resolve;
      });
      claim();
    },
  });
  await clock.pass(120_000);
  expect(attempts).toBe(1);
  end();
  await clock.pass(2_000);
  expect(await following).toMatchObject({ source: "ended" });
  expect(attempts).toBe(1);
});

test.each(["whole", "absent"] as const)(
  "nothing is recovered while the target's copy is %s",
  async (state) => {
    const { parts } = broken(state);
    const clock = new ManualClock();
    const stop = new AbortController();
    const waits = new Set<string>();
    let attempts = 0;
    const following = followSource(parts, {
      ...{ clock, signal: stop.signal },
      onWait: (waiting) => waits.add(waiting.for),
      recover: async () => void attempts++,
    });
    await clock.pass(5_000);
    expect([...waits]).toEqual([state === "whole" ? "claim" : "coldStart"]);
    expect(attempts).toBe(0);
    stop.abort();
    await expect(following).rejects.toThrow();
  },
);
