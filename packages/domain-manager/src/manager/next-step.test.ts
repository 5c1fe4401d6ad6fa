import { expect, test } from "vitest";
import { nextStep } from "./next-step.ts";

const dom = { name: "ns_vm", uuid: "u", id: -1 };

test.each([
  ["shutoff", "unknown", false, "start"],
  ["shutoff", "failed", false, "start"],
  // After a restart of libvirtd the reason is lost, but the record is not.
  ["shutoff", "unknown", true, "leave"],
  ["shutoff", "failed", true, "leave"],
  ["shutoff", "shutdown", false, "leave"],
  ["shutoff", "destroyed", true, "leave"],
  ["shutoff", "crashed", false, "leave"],
  ["shutoff", "migrated", false, "leave"],
  ["shutoff", "saved", false, "leave"],
  ["shutoff", "daemon", false, "leave"],
  ["crashed", "panicked", true, "leave"],
  ["shutdown", "user", true, "leave"],
  ["running", "booted", false, "converge"],
  ["blocked", "unknown", true, "converge"],
  ["paused", "user", true, "converge"],
  ["paused", "ioError", true, "converge"],
  ["pmSuspended", "unknown", true, "converge"],
] as const)("%s (%s), has run %s: %s", (state, reason, ran, step) => {
  expect(nextStep({ dom, state, reason }, ran)).toBe(step);
});

test("starts a missing guest", () => {
  expect(nextStep(undefined, false)).toBe("start");
});
