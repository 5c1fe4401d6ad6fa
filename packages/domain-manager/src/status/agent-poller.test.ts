import { ManualClock } from "@virtkit/api/clock";
import { expect, test } from "vitest";
import { AgentPoller } from "./agent-poller.ts";

function polling(interval: number, answers: (count: number) => Promise<void> = async () => {}) {
  const clock = new ManualClock();
  const asked: number[] = [];
  const run = async (): Promise<void> => {
    asked.push(clock.now() / 1000);
    await answers(asked.length);
  };
  const poller = new AgentPoller([{ interval, run }], clock);
  return { clock, asked, poller };
}

test("asks at once, then after 10 s, doubling up to the interval", async () => {
  const { clock, asked, poller } = polling(120_000);
  poller.start();
  await clock.pass(600_000);
  expect(asked).toEqual([0, 10, 30, 70, 150, 270, 390, 510]);
});

test("keeps an interval below 10 s from the beginning", async () => {
  const { clock, asked, poller } = polling(5_000);
  poller.start();
  await clock.pass(15_000);
  expect(asked).toEqual([0, 5, 10, 15]);
});

test("asks ever more rarely after failures, and as usual after a success", async () => {
  const { clock, asked, poller } = polling(10_000, async (count) => {
    if (count <= 5) throw new Error("silence");
  });
  poller.start();
  await clock.pass(55_000);
  expect(asked).toEqual([0, 1, 3, 7, 15, 31, 41, 51]);
});

test("asks a silent agent every two minutes", async () => {
  const { clock, asked, poller } = polling(5_000, async () => {
    throw new Error("silence");
  });
  poller.start();
  await clock.pass(1_000_000);
  expect(asked.slice(-2).reduce((a, b) => b - a)).toBe(120);
});

test("stops at once and can start again", async () => {
  const { clock, asked, poller } = polling(5_000);
  poller.start();
  poller.start();
  await clock.pass(5_000);
  poller.stop();
  await clock.pass(60_000);
  expect(asked).toEqual([0, 5]);
  poller.start();
  await clock.pass(5_000);
  expect(asked).toEqual([0, 5, 65, 70]);
});

test("asks one question at a time", async () => {
  const clock = new ManualClock();
  let underWay = 0;
  let most = 0;
  const run = async (): Promise<void> => {
    most = Math.max(most, ++underWay);
    await new Promise((resolve) => setImmediate(resolve));
    underWay--;
  };
  new AgentPoller(
    [1, 2, 3].map((interval) => ({ interval: interval * 1000, run })),
    clock,
  ).start();
  await clock.pass(10_000);
  expect(most).toBe(1);
});
