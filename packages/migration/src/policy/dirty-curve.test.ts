import { expect, test } from "vitest";
import { dirtyCurve } from "./dirty-curve.ts";

const at = (seconds: number, bytesPerSecond: number) => ({ seconds, bytesPerSecond });

test("a guest that rewrites the same pages does not write more in a longer time", () => {
  const found = dirtyCurve([at(1, 6e6), at(3, 2e6), at(1, 6e6)]);
  expect(found).toEqual({ dirtyBytesPerSecond: 6e6, dirtyGrowth: 0 });
});

test("a guest that always writes new pages writes three times as much in three seconds", () => {
  const { dirtyGrowth } = dirtyCurve([at(1, 6e6), at(3, 6e6), at(1, 6e6)]);
  expect(dirtyGrowth).toBeCloseTo(1);
});

test("several samples average out noise, and never give a curve that falls or explodes", () => {
  expect(dirtyCurve([at(1, 12e6), at(3, 0), at(1, 0)])).toEqual({
    ...{ dirtyBytesPerSecond: 6e6, dirtyGrowth: 0 },
  });
  expect(dirtyCurve([at(1, 0), at(3, 2e6), at(1, 0)])).toEqual({
    ...{ dirtyBytesPerSecond: 2e6, dirtyGrowth: 1 },
  });
  expect(dirtyCurve([at(1, 1e6), at(3, 9e6)]).dirtyGrowth).toBe(1);
});

test("one sample counts as the worst case, and none as a guest that writes nothing", () => {
  expect(dirtyCurve([at(1, 5e6)])).toEqual({ dirtyBytesPerSecond: 5e6, dirtyGrowth: 1 });
  expect(dirtyCurve([])).toEqual({ dirtyBytesPerSecond: 0, dirtyGrowth: 1 });
});
