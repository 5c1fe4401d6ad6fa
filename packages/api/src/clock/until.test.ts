import { expect, test } from "vitest";
import { ManualClock } from "./manual-clock.ts";
import { sleep } from "./sleep.ts";
import { until } from "./until.ts";

test("checks at once, and then at each interval until there is a result", async () => {
  const clock = new ManualClock();
  const looks: number[] = [];
  const waiting = until(() => looks.push(clock.now()) === 3 && "found", { clock, interval: 100 });
  await clock.pass(1_000);
  await expect(waiting).resolves.toBe("found");
  expect(looks).toEqual([0, 100, 200]);
  expect(clock.pending).toBe(0);
});

test("0 and the empty string are results; undefined and false are not", async () => {
  await expect(until(() => 0, { interval: 1 })).resolves.toBe(0);
  await expect(until(async () => "", { interval: 1 })).resolves.toBe("");
});

test("resolves with undefined when the time is over, after a last check", async () => {
  const clock = new ManualClock();
  const looks: number[] = [];
  const look = (): false => looks.push(clock.now()) < 0 && false;
  const waiting = until(look, { clock, interval: 100, timeout: 250 });
  await clock.pass(1_000);
  await expect(waiting).resolves.toBeUndefined();
  expect(looks).toEqual([0, 100, 200, 300]);
});

test("a check that takes all the time is not the last one", async () => {
  const clock = new ManualClock();
  let looks = 0;
  const slow = async (): Promise<boolean> => {
    await sleep(clock, 500);
    return ++looks === 2;
  };
  const waiting = until(slow, { clock, interval: 100, timeout: 250 });
  await clock.pass(2_000);
  await expect(waiting).resolves.toBe(true);
});

test("checks once if there is no time", async () => {
  let looks = 0;
  await until(() => ++looks < 0, { interval: 1, timeout: 0 });
  expect(looks).toBe(1);
});

test("the signal ends it at once, with its reason, and leaves no timer", async () => {
  const clock = new ManualClock();
  const stop = new AbortController();
  const waiting = until(() => false, { clock, interval: 100, signal: stop.signal });
  const ended = expect(waiting).rejects.toThrow("enough");
  await clock.pass(150);
  stop.abort(new Error("enough"));
  await ended;
  expect(clock.pending).toBe(0);
});

test("rejects with what the condition throws", async () => {
  const fail = async (): Promise<false> => {
    throw new Error("gone");
  };
  await expect(until(fail, { interval: 1 })).rejects.toThrow("gone");
});
