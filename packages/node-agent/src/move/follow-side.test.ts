import { ManualClock } from "@virtkit/api/clock";
import type { Grant, Holder } from "@virtkit/api/grant";
import type { GrantStore } from "@virtkit/domain-manager";
import type { MigrationReport } from "@virtkit/launcher/client";
import { expect, test } from "vitest";
import { type FollowedSide, followSide } from "./follow-side.ts";

const source: Holder = {
  ...{ podUID: "source", containerID: "c1", node: "n1" },
  ...{ machineID: "m1", bootID: "b1", nonce: "x" },
};
const target: Holder = { ...source, podUID: "target", containerID: "c2", node: "n2" };
const released: Grant = {
  ...{ state: "Released", vmiUID: "uid", epoch: 1, seq: 4 },
  ...{ holder: source, target, migrationUID: "move" },
};

test("a target that claims second waits for its turn by the agent's clock", async () => {
  let swaps = 0;
  const store: GrantStore = {
    read: async () => ({ grant: released, version: undefined }),
    swap: async () => ++swaps > 1,
  };
  const report = { migrationUID: "move", role: "target", step: "asked" } as const;
  const reports = [
    { ...report, revision: 1, claims: "released" },
    { ...report, revision: 2, settled: "runs" },
  ] as unknown as MigrationReport[];
  const claims: unknown[] = [];
  const client: FollowedSide["client"] = {
    followMigration: async ({ after = 0 }) => reports[after] as MigrationReport,
    noteClaim: async ({ mayRun }) => void claims.push(mayRun.grant),
    noteGrant: async () => {},
  };
  const clock = new ManualClock();
  const random = { number: () => 0.5, uuid: () => "" };
  const following = followSide({
    ...{ client, store, migrationUID: "move", holder: target, clock, random },
  });
  await clock.pass(10);
  expect([swaps, clock.pending, claims]).toEqual([1, 1, []]);
  await clock.pass(1);
  expect(await following).toBe(reports[1]);
  expect(claims).toEqual([{ vmiUid: "uid", podUid: "target", epoch: 2 }]);
});

test("a launcher that asks for the grant all the time makes its agent read it only so often", async () => {
  const clock = new ManualClock();
  const stop = new AbortController();
  let reads = 0;
  const store: GrantStore = {
    read: async () => {
      reads++;
      return { grant: released, version: undefined };
    },
    swap: async () => false,
  };
  const asking = { migrationUID: "move", role: "target", step: "asked", asksGrant: true } as const;
  const client: FollowedSide["client"] = {
    followMigration: async ({ after = 0 }) => ({ ...asking, revision: after + 1 }),
    noteClaim: async () => {},
    noteGrant: async () => {},
  };
  const { signal } = stop;
  const random = { number: () => 0.5, uuid: () => "" };
  const following = followSide({
    ...{ client, store, migrationUID: "move", holder: target, clock, random, signal },
  });
  const ended = expect(following).rejects.toThrow();
  await clock.pass(10_000);
  expect(reads).toBeGreaterThan(100);
  expect(reads).toBeLessThan(128 + 10 * 20);
  stop.abort();
  await ended;
});
