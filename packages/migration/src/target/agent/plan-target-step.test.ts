import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { describe, expect, test } from "vitest";
import { planTargetStep, type TargetFacts } from "./plan-target-step.ts";

const begin = "2026-01-01T00:00:00Z";
const end = "2026-01-01T00:00:10Z";

const vmiIn = (migrationState: object, status: object = {}): VirtualMachineInstance =>
  ({
    metadata: {
      name: "vm",
      namespace: "ns",
      uid: "u1",
      labels: { "kubevirt.io/migrationTargetNodeName": "n2" },
    },
    spec: { domain: { devices: {} } },
    status: {
      phase: "Running",
      migrationState: { migrationUid: "m1", ...migrationState },
      ...status,
    },
  }) as VirtualMachineInstance;

const facts: TargetFacts = {
  node: "n2",
  domain: undefined,
  isListening: false,
  now: Date.parse(end) + 1000,
};

const stepOf = (
  vmi: VirtualMachineInstance | undefined,
  changes: Partial<TargetFacts> = {},
): string => planTargetStep(vmi, { ...facts, ...changes }).step.step;

describe("planTargetStep", () => {
  test("prepares once, and not what is already being prepared", () => {
    expect(stepOf(vmiIn({}))).toBe("prepare");
    expect(stepOf(vmiIn({}), { isListening: true })).toBe("none");
    expect(stepOf(vmiIn({ startTimestamp: begin }))).toBe("none");
  });

  test("finalizes a guest that has arrived", () => {
    const arrived = vmiIn({ startTimestamp: begin, endTimestamp: end });
    expect(stepOf(arrived, { domain: { state: "Running" } })).toBe("finalize");
    expect(stepOf(arrived, { domain: { state: "Paused", reason: "User" } })).toBe("finalize");
  });

  test("a migration that ended without a guest here has failed", () => {
    const ended = vmiIn({ startTimestamp: begin, endTimestamp: end });
    const { step, vmi } = planTargetStep(ended, {
      ...facts,
      domain: { state: "Paused", reason: "Migration" },
      isListening: true,
    });
    expect(step.step).toBe("none");
    expect(vmi?.status?.migrationState).toMatchObject({ failed: true, completed: true });
  });

  test("cleans up afterwards, but keeps a broken post-copy that nobody has handled", () => {
    const failed = vmiIn({ endTimestamp: end, failed: true });
    expect(planTargetStep(failed, facts).step).toEqual({ step: "clean-up", failed: true });
    const broken = { state: "Paused", reason: "PostcopyFailed" };
    expect(stepOf(failed, { domain: broken })).toBe("wait");
    expect(stepOf(vmiIn({ endTimestamp: end, completed: true }))).toBe("clean-up");
  });

  test("an abort between clusters waits for the source to end it, and never ends a running guest", () => {
    const states = { sourceState: { syncAddress: "a" }, targetState: { migrationUID: "m1" } };
    const aborted = vmiIn({ startTimestamp: begin, abortRequested: true, ...states });
    const waiting = { isListening: true, domain: { state: "Paused", reason: "Migration" } };
    expect(stepOf(aborted, waiting)).toBe("wait");
    expect(stepOf(aborted, { ...waiting, domain: { state: "Running" } })).toBe("none");
    const over = vmiIn({
      startTimestamp: begin,
      endTimestamp: end,
      abortRequested: true,
      ...states,
    });
    expect(stepOf(over, waiting)).toBe("clean-up");
  });

  test.each([
    ["no VMI", undefined, {}, "none"],
    ["a VMI that is final", vmiIn({}, { phase: "Failed" }), {}, "undo"],
    ["another node's", vmiIn({}), { node: "n3" }, "none"],
    ["a dead copy", vmiIn({}), { domain: { state: "Shutoff" } }, "none"],
    [
      "the domain of an older VMI",
      vmiIn({}),
      { domain: { state: "Running", vmiUid: "u0" } },
      "forget-domain",
    ],
  ])("%s", (_what, vmi, changes, step) => {
    expect(stepOf(vmi, changes)).toBe(step);
  });
});
