import { ManualClock } from "@virtkit/api/clock";
import { expect, test } from "vitest";
import type { ProbePlan } from "./plan-probes.ts";
import type { ProbeState } from "./probe-state.ts";
import { type ProberOptions, probe } from "./prober.ts";

const plan: ProbePlan = {
  action: { kind: "tcp", host: "10.0.2.2", port: 80 },
  initialDelay: 5,
  period: 10,
  timeout: 2,
  thresholds: { success: 1, failure: 2 },
};

function probing(check: ProberOptions["check"]) {
  const clock = new ManualClock();
  const stop = new AbortController();
  const checks: number[] = [];
  const counts: [ok: boolean, seconds: number][] = [];
  const states: ProbeState[] = [];
  const ended = probe(plan, {
    clock,
    signal: stop.signal,
    check: async (options) => {
      checks.push(clock.now() / 1_000);
      await check(options);
    },
    onCheck: (...counted) => counts.push(counted),
    onState: (state) => states.push(state),
  });
  return { clock, stop, checks, counts, states, ended };
}

test("waits for its initial delay and then checks once per period", async () => {
  const { clock, checks, states, stop, ended } = probing(async () => {});
  await clock.pass(4_999);
  expect(checks).toEqual([]);
  await clock.pass(30_001);
  expect(checks).toEqual([5, 15, 25, 35]);
  expect(states.at(-1)).toMatchObject({ state: "passing", streak: 4 });
  stop.abort();
  await ended;
});

test("a hanging check fails after its timeout, and the next one comes on time", async () => {
  const signals: AbortSignal[] = [];
  const { clock, checks, states, stop, ended } = probing(async ({ signal }) => {
    signals.push(signal);
    await new Promise(() => {});
  });
  await clock.pass(16_000);
  expect(checks).toEqual([5, 15]);
  expect(states).toMatchObject([{ state: "pending", message: "no answer in 2 s" }]);
  await clock.pass(1_000);
  expect(states.at(-1)).toMatchObject({ state: "failing" });
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  stop.abort();
  await ended;
});

test("turns a guest's output into one short line", async () => {
  const said = `\u001b[31mred\r\n${"x".repeat(10_000)}`;
  const { clock, states, stop, ended } = probing(() => Promise.reject(new Error(said)));
  await clock.pass(5_000);
  expect(states[0]?.message).toMatch(/^\[31mred x+$/);
  expect(states[0]?.message?.length).toBeLessThanOrEqual(300);
  stop.abort();
  await ended;
});

test("an interrupted check says nothing", async () => {
  const { clock, states, stop, ended } = probing(
    ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("cut")))),
  );
  await clock.pass(5_000);
  stop.abort();
  await ended;
  expect(states).toEqual([]);
});

test("counts each check with its outcome and duration", async () => {
  let isWell = true;
  const { clock, counts, stop, ended } = probing(async () => {
    if (!isWell) await new Promise(() => {});
  });
  await clock.pass(5_000);
  isWell = false;
  await clock.pass(12_000);
  expect(counts).toEqual([
    [true, 0],
    [false, 2],
  ]);
  stop.abort();
  await ended;
});
