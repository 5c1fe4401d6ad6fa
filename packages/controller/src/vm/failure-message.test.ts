import { expect, test } from "vitest";
import { now, plan, vmOf, writesOf } from "../testing/vm-objects.ts";
import { withFailureMessage } from "./failure-message.ts";

const failure = { reason: "FailedCreate", message: "it may not be read" };
const at = (secondsAgo: number): string => new Date(now - secondsAgo * 1000).toISOString();

/** A status with a failure that was first seen a minute ago. */
const statusOf = (message: string, toldAgo?: number) => ({
  conditions: [
    { type: "Ready", status: "False" },
    {
      ...{ type: "Failure", status: "True", reason: "FailedCreate", message },
      lastTransitionTime: at(60),
      ...(toldAgo === undefined ? {} : { lastProbeTime: at(toldAgo) }),
    },
  ],
});

test("a failure that follows another one with the same reason is told in its own words", () => {
  const [, told] = withFailureMessage(statusOf("it does not exist"), failure, now).conditions ?? [];
  expect(told).toMatchObject({ message: failure.message, lastTransitionTime: at(60) });
  expect(Date.parse(String(told?.lastProbeTime))).toBe(now);
});

test("words that change at each attempt cost a write every ten seconds at most", () => {
  const recent = statusOf("request 1 was refused", 9);
  expect(withFailureMessage(recent, failure, now)).toBe(recent);
  const earlier = statusOf("request 1 was refused", 10);
  expect(withFailureMessage(earlier, failure, now)).not.toBe(earlier);
});

test("the same words, no failure, and a failure that is new are left as they are", () => {
  for (const status of [statusOf(failure.message), { conditions: [] }, {}]) {
    expect(withFailureMessage(status, failure, now)).toBe(status);
  }
  const over = statusOf("it does not exist");
  expect(withFailureMessage(over, undefined, now)).toBe(over);
});

test("a VM's status is written for a new message, and then not again", () => {
  const instancetype = (name: string) => ({ instancetype: { name } });
  const first = plan({ vm: vmOf("Halted", instancetype("small")) });
  const early = (first.status?.conditions ?? []).map((condition) => ({
    ...condition,
    lastProbeTime: at(60),
    lastTransitionTime: at(60),
  }));
  const vm = vmOf("Halted", {
    ...instancetype("large"),
    status: { ...first.status, conditions: early },
  });
  const next = plan({ vm });
  expect(writesOf(next)).toEqual(["patch virtualmachines/status"]);
  expect(JSON.stringify(next.status)).toContain("large");
  const settled = vmOf("Halted", { ...instancetype("large"), status: next.status ?? {} });
  expect(writesOf(plan({ vm: settled }))).toEqual([]);
});
