import { expect, test } from "vitest";
import {
  type ForecastInput,
  type ForecastPolicy,
  forecastMigration,
} from "./forecast-migration.ts";

const still: ForecastInput = {
  memoryBytes: 1e9,
  bytesPerSecond: 100e6,
  dirtyBytesPerSecond: 0,
  maxDowntimeMs: 300,
};

test("an idle guest takes as long as its memory needs, and is paused for as long as the downtime allows", () => {
  const found = forecastMigration({ ...still, setupMs: 500, switchMs: 80 });
  expect(found).toEqual({
    ...{ converges: true, end: "preCopy", durationMs: 10_580, downtimeMs: 380, rounds: 1 },
    transferredBytes: 1e9,
  });
});

test("a bandwidth limit does not apply while the guest is paused", () => {
  const found = forecastMigration({ ...still, linkBytesPerSecond: 3e9, switchMs: 80 });
  expect(found).toMatchObject({ downtimeMs: 90, durationMs: 9_790 });
});

test("disks are sent first, and what is written meanwhile is part of the first round", () => {
  const found = forecastMigration({ ...still, diskBytes: 500e6 });
  expect(found).toMatchObject({ durationMs: 15_000, transferredBytes: 1.5e9 });
});

test("a guest that writes half as fast as the link halves the rest with each round", () => {
  const found = forecastMigration({ ...still, dirtyBytesPerSecond: 50e6 });
  // 9.7 s, 4.85 s, 2.43 s, 1.21 s, 0.61 s, 0.30 s and 0.15 s, and 0.3 s in which the guest is paused.
  expect(found).toMatchObject({ converges: true, rounds: 7, downtimeMs: 300 });
  expect(found.durationMs).toBeCloseTo(19_548, -1);
});

test("a guest that rewrites the same pages has short rounds after the first", () => {
  const writing = { ...still, dirtyBytesPerSecond: 80e6 };
  const always = forecastMigration(writing);
  const same = forecastMigration({ ...writing, dirtyGrowth: 0 });
  expect(always.durationMs).toBeGreaterThan(40_000);
  // Those of less than a second go by the pace within a second: 0.8 s, 0.64 s, 0.51 s and so on.
  expect(same).toMatchObject({ converges: true });
  expect(same.durationMs).toBeLessThan(15_000);
});

test("a guest that writes as fast as the link does not converge", () => {
  const fast = { ...still, dirtyBytesPerSecond: 100e6 };
  expect(forecastMigration(fast)).toMatchObject({ converges: false, end: "never", rounds: 1 });
  const alike = { ...fast, dirtyBytesPerSecond: 99e6 };
  expect(forecastMigration(alike)).toMatchObject({ converges: false, rounds: 1 });
});

const policy: ForecastPolicy = {
  ...{ completionSeconds: 150, progressSeconds: 20 },
  ...{ allowPostCopy: false, allowWorkloadDisruption: false },
};

test("a guest that does not converge ends by its policy: aborted, paused or in post-copy, at the time the policy sets", () => {
  const fast = { ...still, dirtyBytesPerSecond: 200e6, dirtyGrowth: 0, switchMs: 100, policy };
  // 9.7 s, then rounds of 2 s that lead nowhere for 20 s.
  expect(forecastMigration(fast)).toMatchObject({
    ...{ converges: false, end: "aborted", durationMs: 31_700, downtimeMs: 0 },
  });
  const may = { ...policy, allowWorkloadDisruption: true };
  expect(forecastMigration({ ...fast, policy: may })).toMatchObject({
    ...{ end: "paused", durationMs: 34_100, downtimeMs: 2_400 },
  });
  const link = { linkBytesPerSecond: 1e9 };
  const post = { ...may, allowPostCopy: true };
  expect(forecastMigration({ ...fast, ...link, policy: post })).toMatchObject({
    ...{ end: "postCopy", durationMs: 32_030, downtimeMs: 100 },
  });
  const soon = { ...post, completionSeconds: 15 };
  expect(forecastMigration({ ...fast, ...link, policy: soon }).durationMs).toBe(15_330);
});

test("a switch that does not wait comes after the first round, unless that was enough", () => {
  const atOnce = { ...policy, allowPostCopy: true, switchesAtOnce: true };
  const fast = { ...still, dirtyBytesPerSecond: 50e6, dirtyGrowth: 0, switchMs: 100 };
  expect(forecastMigration({ ...fast, policy: atOnce })).toMatchObject({
    ...{ end: "postCopy", rounds: 1, downtimeMs: 100, durationMs: 9_700 + 800 + 100 },
  });
  expect(forecastMigration({ ...still, policy: atOnce })).toMatchObject({ end: "preCopy" });
});

test("a guest that would converge too late ends by its policy, too", () => {
  const slow = {
    ...still,
    dirtyBytesPerSecond: 90e6,
    policy: { ...policy, completionSeconds: 30 },
  };
  expect(forecastMigration(slow)).toMatchObject({ converges: false, end: "aborted" });
});

test("never more than all of the memory is left, and a link that carries nothing still gives an end", () => {
  const flood = forecastMigration({ ...still, dirtyBytesPerSecond: 1e12 });
  expect(flood).toMatchObject({ converges: false, downtimeMs: 10_300 });
  const dead = forecastMigration({ ...still, bytesPerSecond: 0, dirtyBytesPerSecond: 1 });
  expect(Number.isFinite(dead.durationMs)).toBe(true);
});
