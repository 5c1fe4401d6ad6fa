import { expect, test } from "vitest";
import { every } from "./every.ts";
import { ManualClock } from "./manual-clock.ts";

test("runs the action at each interval until it is stopped", async () => {
  const clock = new ManualClock();
  const times: number[] = [];
  const stop = every(clock, 100, () => times.push(clock.now()));
  await clock.pass(350);
  stop();
  await clock.pass(1_000);
  expect(times).toEqual([100, 200, 300]);
  expect(clock.pending).toBe(0);
});

test("an action may stop it", async () => {
  const clock = new ManualClock();
  let times = 0;
  const stop = every(clock, 100, () => {
    times++;
    stop();
  });
  await clock.pass(1_000);
  expect(times).toBe(1);
});
