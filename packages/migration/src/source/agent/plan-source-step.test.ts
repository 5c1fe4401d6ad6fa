import { clusterConfig } from "@virtkit/api/config";
import type {
  VirtualMachineInstance,
  VirtualMachineInstanceMigrationState,
} from "@virtkit/api/schema";
import { describe, expect, test } from "vitest";
import { planSourceStep, type SourceFacts } from "./plan-source-step.ts";

const state: VirtualMachineInstanceMigrationState = {
  migrationUid: "m1",
  sourceNode: "n1",
  targetNode: "n2",
  targetNodeAddress: "192.0.2.2",
  targetDirectMigrationNodePorts: { "40001": 0, "40002": 49152 },
};

const vmiIn = (migrationState: object | undefined): VirtualMachineInstance =>
  ({
    metadata: { name: "vm", namespace: "ns", uid: "u1" },
    spec: { domain: { devices: {} } },
    status: { nodeName: "n1", ...(migrationState && { migrationState }) },
  }) as VirtualMachineInstance;

const facts: SourceFacts = { node: "n1", domain: { state: "Running" }, config: clusterConfig() };

const stepOf = (changes: object, other: Partial<SourceFacts> = {}): string =>
  planSourceStep(vmiIn({ ...state, ...changes }), { ...facts, ...other }).step;

describe("planSourceStep", () => {
  test("migrates when the target listens", () => {
    expect(planSourceStep(vmiIn(state), facts)).toMatchObject({
      step: "migrate",
      target: { address: "192.0.2.2", ports: { "40002": 49152 } },
      options: { parallelThreads: 8, maxDowntimeMs: 900, bandwidth: "0" },
      events: [{ type: "Normal", reason: "Migrating" }],
    });
  });

  test("waits for the target's ports", () => {
    const { targetDirectMigrationNodePorts: _, ...early } = state;
    expect(planSourceStep(vmiIn(early), facts)).toEqual({ step: "wait", seconds: 1 });
  });

  test("does nothing twice", () => {
    expect(stepOf({ startTimestamp: "2026-01-01T00:00:00Z" })).toBe("none");
    const attempt = { uid: "m1", startTimestamp: "2026-01-01T00:00:00Z" };
    expect(stepOf({}, { domain: { state: "Running", migration: attempt } })).toBe("none");
    expect(stepOf({}, { domain: { state: "Paused", reason: "Migration" } })).toBe("none");
    expect(stepOf({ endTimestamp: "2026-01-01T00:00:00Z", completed: true })).toBe("none");
  });

  test("does nothing for a guest that is elsewhere or does not run", () => {
    expect(planSourceStep(vmiIn(undefined), facts).step).toBe("none");
    expect(stepOf({}, { node: "n2" })).toBe("none");
    expect(stepOf({}, { domain: undefined })).toBe("none");
    expect(stepOf({}, { domain: { state: "Crashed" } })).toBe("none");
  });

  test("cancels once, and again if that failed", () => {
    expect(stepOf({ abortRequested: true })).toBe("cancel");
    expect(stepOf({ abortRequested: true, abortStatus: "Failed" })).toBe("cancel");
    expect(stepOf({ abortRequested: true, abortStatus: "Aborting" })).toBe("none");
  });

  test("rejects a factor that is not a number", () => {
    const config = clusterConfig({
      developerConfiguration: { featureGates: ["MigrationStallDetection"] },
    });
    const experimental = { stallDetector: { ewmaAlpha: "much" } };
    const odd = { ...state, migrationConfiguration: { experimental } };
    expect(() => planSourceStep(vmiIn(odd), { ...facts, config })).toThrow(
      expect.objectContaining({
        code: "MIGRATION_INPUT_INVALID",
        path: expect.stringMatching(/ewmaAlpha$/),
      }),
    );
  });
});
