import { expect, test } from "vitest";
import { dirtyCurve } from "./dirty-curve.ts";

const at = (seconds: number, bytesPerSecond: number) => ({ seconds, bytesPerSecond });

test("a guest that writes the same pages again and again does not write more in a longer time", () => {
  const found = dirtyCurve([at(1, 6e6), at(3, 2e6), at(1, 6e6)]);
  expect(found).toEqual({ dirtyBytesPerSecond: 6e6, dirtyGrowth: 0 });
});

test("a guest that always writes other pages writes three times as much in three seconds", () => {
  const { dirtyGrowth } = dirtyCurve([at(1, 6e6), at(3, 6e6), at(1, 6e6)]);
  expect(dirtyGrowth).toBeCloseTo(1);
});

test("chance in a single look is weakened by the others, and never gives a curve that falls or explodes", () => {
  expect(dirtyCurve([at(1, 12e6), at(3, 0), at(1, 0)])).toEqual({
    ...{ dirtyBytesPerSecond: 6e6, dirtyGrowth: 0 },
  });
  expect(dirtyCurve([at(1, 0), at(3, 2e6), at(1, 0)])).toEqual({
    ...{ dirtyBytesPerSecond: 2e6, dirtyGrowth: 1 },
  });
  expect(dirtyCurve([at(1, 1e6), at(3, 9e6)]).dirtyGrowth).toBe(1);
});

test("one measurement is taken for the worst, and none for a guest that writes nothing", () => {
  expect(dirtyCurve([at(1, 5e6)])).toEqual({ dirtyBytesPerSecond: 5e6, dirtyGrowth: 1 });
  expect(dirtyCurve([])).toEqual({ dirtyBytesPerSecond: 0, dirtyGrowth: 1 });
});
