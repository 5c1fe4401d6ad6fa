import { expect, test } from "vitest";
import type { VirtualMachine, VirtualMachineInstance } from "../schema/index.ts";
import {
  startDelayLeft,
  startDelayRange,
  startDelaySeconds,
  startFailureOf,
} from "./start-backoff.ts";

const now = Date.parse("2026-06-01T00:00:00Z");
const clock = { now, random: () => 0 };

test.each([
  [0, 300, 10, 15],
  [1, 300, 10, 15],
  [3, 300, 90, 135],
  [5, 300, 250, 300],
  [100, 300, 300, 300],
  [1, 5, 5, 5],
  [2, 3600, 480, 720],
])("after %i failures with a maximum of %i s: %i to %i s", (count, maximum, min, max) => {
  expect(startDelayRange(count, maximum)).toEqual({ min, max });
  expect(startDelaySeconds(count, () => 0, maximum)).toBe(min);
  expect(startDelaySeconds(count, () => 0.999999, maximum)).toBe(max);
});

const vm = (strategy: string, startFailure?: object): VirtualMachine => ({
  spec: { runStrategy: strategy, template: { spec: { domain: { devices: {} } } } },
  status: startFailure ? { startFailure } : {},
});
const vmi = (phase: string, uid: string, ran = false): VirtualMachineInstance => ({
  metadata: { uid },
  spec: { domain: { devices: {} } },
  status: { phase, phaseTransitionTimestamps: ran ? [{ phase: "Running" }] : [] },
});
const before = { consecutiveFailCount: 2, lastFailedVMIUID: "a", retryAfterTimestamp: "x" };

test("a VMI that ended without ever running counts once, and sets the time of the next attempt", () => {
  expect(startFailureOf(vm("Always", before), vmi("Failed", "b"), clock)).toEqual({
    consecutiveFailCount: 3,
    lastFailedVMIUID: "b",
    retryAfterTimestamp: "2026-06-01T00:01:30Z",
  });
  expect(startFailureOf(vm("Always", before), vmi("Failed", "a"), clock)).toEqual(before);
});

test("a VMI that ran, or a strategy that starts nothing on its own, clears the record", () => {
  expect(startFailureOf(vm("Always", before), vmi("Failed", "b", true), clock)).toBeUndefined();
  for (const strategy of ["Halted", "Manual", "WaitAsReceiver"]) {
    expect(startFailureOf(vm(strategy, before), undefined, clock)).toBeUndefined();
  }
});

test("keeps the record without a VMI, or with a living one", () => {
  expect(startFailureOf(vm("Once", before), undefined, clock)).toEqual(before);
  expect(startFailureOf(vm("Once", before), vmi("Scheduling", "b"), clock)).toEqual(before);
});

test("the remaining time is in whole seconds, and 0 without a time", () => {
  const retry = (retryAfterTimestamp: string) => vm("Always", { retryAfterTimestamp });
  expect(startDelayLeft(retry("2026-06-01T00:00:30Z"), now)).toBe(30);
  expect(startDelayLeft(retry("2026-05-01T00:00:30Z"), now)).toBe(0);
  expect(startDelayLeft(retry("never"), now)).toBe(0);
});
