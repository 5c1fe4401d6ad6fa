import { expect, test } from "vitest";
import { measure } from "./measure.mjs";

/** A clock that only the contenders move, and contenders that take a given time. */
function fakeTime() {
  let microseconds = 0;
  /** @type {number[]} */
  const rounds = [];
  return {
    now: () => {
      microseconds += 1_000;
      return microseconds;
    },
    rounds,
    /** @param {string} name @param {number} cost */
    contender: (name, cost) => ({
      name,
      prepare: (/** @type {number} */ round) => {
        rounds.push(round);
        return cost;
      },
      run: (/** @type {number} */ input) => {
        microseconds += input;
        return 1;
      },
    }),
  };
}

test("the ratio is the baseline time over the subject time, including the clock itself", async () => {
  const { now, contender } = fakeTime();
  const subject = contender("subject", 10_000);
  const measured = await measure({ name: "x", subject, baseline: contender("old", 30_000) }, now);
  expect(measured.ratio).toBeCloseTo(31 / 11, 5);
  expect(measured.subject).toBe(11_000);
});

test("every round gets a new input", async () => {
  const { now, contender, rounds } = fakeTime();
  await measure({ name: "x", subject: contender("subject", 5_000) }, now);
  expect(new Set(rounds).size).toBe(rounds.length);
});

test("warms up before it measures; the first round is reported separately", async () => {
  const { now, contender } = fakeTime();
  const subject = contender("subject", 0);
  let calls = 0;
  subject.prepare = () => Math.max(2_000, 40_000 - 2_000 * calls++);
  const measured = await measure({ name: "x", subject }, now);
  expect(measured).toMatchObject({ cold: 41_000, subject: 3_000, best: 3_000 });
});
