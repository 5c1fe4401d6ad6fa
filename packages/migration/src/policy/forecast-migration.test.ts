import { expect, test } from "vitest";
import { type ForecastInput, forecastMigration } from "./forecast-migration.ts";

const still: ForecastInput = {
  memoryBytes: 1e9,
  bytesPerSecond: 100e6,
  dirtyBytesPerSecond: 0,
  maxDowntimeMs: 300,
};

test("a guest that writes nothing takes as long as its memory, and stands still for the switch alone", () => {
  const found = forecastMigration({ ...still, setupMs: 500, switchMs: 80 });
  expect(found).toEqual({
    ...{ converges: true, durationMs: 10_580, downtimeMs: 80, rounds: 1 },
    transferredBytes: 1e9,
  });
});

test("disks are sent first, and what is written meanwhile is part of the first round", () => {
  const found = forecastMigration({ ...still, diskBytes: 500e6 });
  expect(found).toMatchObject({ durationMs: 15_000, transferredBytes: 1.5e9 });
});

test("a guest that writes half as fast as the link halves what is left with each round", () => {
  const found = forecastMigration({ ...still, dirtyBytesPerSecond: 50e6 });
  // 10 s, 5 s, 2.5 s, 1.25 s, 0.625 s, 0.3125 s, and 0.15625 s in which the guest stands still.
  expect(found).toMatchObject({ converges: true, rounds: 6, downtimeMs: 156 });
  expect(found.durationMs).toBeCloseTo(19_844, -1);
  const patient = forecastMigration({ ...still, dirtyBytesPerSecond: 50e6, maxDowntimeMs: 1_000 });
  expect(patient).toMatchObject({ rounds: 4, downtimeMs: 625 });
});

test("a guest that writes as fast as the link does not converge, and a larger downtime lets it", () => {
  const fast = { ...still, dirtyBytesPerSecond: 100e6 };
  expect(forecastMigration(fast)).toMatchObject({ converges: false, rounds: 1 });
  expect(forecastMigration({ ...fast, maxDowntimeMs: 10_000 }).converges).toBe(true);
});

test("no more than all of the memory is ever left, and a link that carries nothing gives an end", () => {
  const flood = forecastMigration({ ...still, dirtyBytesPerSecond: 1e12 });
  expect(flood).toMatchObject({ converges: false, downtimeMs: 10_000 });
  const dead = forecastMigration({ ...still, bytesPerSecond: 0, dirtyBytesPerSecond: 1 });
  expect(Number.isFinite(dead.durationMs)).toBe(true);
});
