import { expect, test } from "vitest";
import { hasRun, isFinal, mayMove, phaseTransitions, vmiPhases, withPhase } from "./phases.ts";

test("nothing leaves a final phase", () => {
  for (const { from } of phaseTransitions) expect(["Succeeded", "Failed"]).not.toContain(from);
});

test("every phase except the empty one can be reached, and every step names who makes it", () => {
  const reached = new Set(phaseTransitions.map(({ to }) => to));
  expect(vmiPhases.filter((phase) => !reached.has(phase))).toEqual([""]);
  for (const { by, when } of phaseTransitions) {
    expect(by.length).toBeGreaterThan(0);
    expect(when).not.toBe("");
  }
});

test("a guest does not run without a node, and staying in a phase is not a step", () => {
  expect(mayMove("Scheduled", "Running")).toBe(true);
  expect(mayMove("Pending", "Running")).toBe(false);
  expect(mayMove("Scheduling", "Running")).toBe(false);
  expect(mayMove("Running", "Running")).toBe(false);
});

test("records a phase once, with its time", () => {
  const first = withPhase({}, "Pending", "t0");
  expect(first).toEqual({
    phase: "Pending",
    phaseTransitionTimestamps: [{ phase: "Pending", phaseTransitionTimestamp: "t0" }],
  });
  expect(withPhase(first, "Pending", "t1")).toBe(first);
  const next = withPhase(first, "Scheduling", "t1");
  expect(next.phaseTransitionTimestamps).toHaveLength(2);
});

test("knows what has ended, and what ever ran", () => {
  const vmi = (status: object) => ({ spec: { domain: { devices: {} } }, status });
  expect(isFinal(vmi({ phase: "Succeeded" }))).toBe(true);
  expect(isFinal(vmi({ phase: "Running" }))).toBe(false);
  expect(isFinal(undefined)).toBe(false);
  expect(hasRun(vmi({ phase: "Running" }))).toBe(false);
  expect(hasRun(vmi({ phaseTransitionTimestamps: [{ phase: "Running" }] }))).toBe(true);
});
