import { ManualClock } from "@virtkit/api/clock";
import { expect, test } from "vitest";
import { createRateLimiter } from "./rate-limiter.ts";

test("each failure of a key doubles its delay, up to a maximum", () => {
  const limiter = createRateLimiter({ clock: new ManualClock(), firstDelay: 5, lastDelay: 30 });
  const delays = [1, 2, 3, 4, 5].map(() => limiter.delay("a"));
  expect(delays).toEqual([5, 10, 20, 30, 30]);
  expect(limiter.failures("a")).toBe(5);
  limiter.forget("a");
  expect([limiter.failures("a"), limiter.delay("a")]).toEqual([0, 5]);
});

test("many keys that fail at once share one bucket, which refills", async () => {
  const clock = new ManualClock();
  const limiter = createRateLimiter({ clock, firstDelay: 1, perSecond: 10, burst: 3 });
  const keys = ["a", "b", "c", "d", "e"];
  expect(keys.map((key) => limiter.delay(key))).toEqual([1, 1, 1, 100, 200]);
  await clock.pass(10_000);
  expect(limiter.delay("f")).toBe(1);
});

test("the delay of a key that has failed for days is still a number", () => {
  const limiter = createRateLimiter({ clock: new ManualClock(), perSecond: 1e9 });
  for (let failure = 0; failure < 5_000; failure++) limiter.delay("a");
  expect(limiter.delay("a")).toBe(30_000);
});
