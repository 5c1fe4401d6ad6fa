import { ManualClock } from "@virtkit/api/clock";
import { expect, test } from "vitest";
import { Pace } from "./pace.ts";

test("a few are taken at once; of endless ones, so many per second", async () => {
  const clock = new ManualClock();
  const pace = new Pace({ atOnce: 3, perSecond: 2 }, clock);
  expect([pace.take(), pace.take(), pace.take(), pace.take()]).toEqual([0, 0, 0, 500]);
  await clock.pass(500);
  expect(pace.take()).toBe(500);
  await clock.pass(1_000);
  expect([pace.take(), pace.take()]).toEqual([0, 500]);
});

test("what was not used is not saved up", async () => {
  const clock = new ManualClock();
  const pace = new Pace({ atOnce: 2, perSecond: 1 }, clock);
  await clock.pass(60_000);
  expect([pace.take(), pace.take(), pace.take()]).toEqual([0, 0, 1_000]);
});
