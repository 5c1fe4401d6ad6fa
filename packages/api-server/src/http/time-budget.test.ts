import { ManualClock } from "@virtkit/api/clock";
import { expect, test } from "vitest";
import { TimeBudget } from "./time-budget.ts";

test("time runs from the start, even if the signal is requested later", async () => {
  const clock = new ManualClock();
  const budget = new TimeBudget(clock, 1_000);
  await clock.pass(600);
  const { signal } = budget;
  await clock.pass(399);
  expect(signal.aborted).toBe(false);
  await clock.pass(1);
  expect(signal.aborted).toBe(true);
});

test("a signal first requested when the time is up is already aborted", async () => {
  const clock = new ManualClock();
  const budget = new TimeBudget(clock, 1_000);
  await clock.pass(1_000);
  expect(budget.signal.aborted).toBe(true);
  expect(clock.pending).toBe(0);
});

test("nothing waits before the signal is requested or after it is disposed", () => {
  const clock = new ManualClock();
  const budget = new TimeBudget(clock, 1_000);
  expect(clock.pending).toBe(0);
  expect(budget.signal.aborted).toBe(false);
  expect(clock.pending).toBe(1);
  budget[Symbol.dispose]();
  expect(clock.pending).toBe(0);
});

test("it ends with the other signal", () => {
  const gone = new AbortController();
  using budget = new TimeBudget(new ManualClock(), 1_000, gone.signal);
  const { signal } = budget;
  gone.abort();
  expect(signal.aborted).toBe(true);
});
