import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { cleanedUp, finalized } from "./after-step.ts";
import { type TargetStatusFacts, targetStatus } from "./target-status.ts";

const end = "2026-01-01T00:00:10Z";

const vmi = {
  metadata: {
    uid: "u1",
    labels: {
      "kubevirt.io/nodeName": "n1",
      "kubevirt.io/migrationTargetNodeName": "n2",
      "kubevirt.io/vmi-pod-cpu-resource-limits": "4",
    },
    annotations: { "kubevirt.io/create-migration-target": "true", keep: "y" },
  },
  spec: { domain: { devices: {} } },
  status: {
    nodeName: "n1",
    evacuationNodeName: "n1",
    conditions: [{ type: "MigrationRequired", status: "True" }],
    migrationState: { migrationUid: "m1", targetState: { node: "n2" } },
  },
} as unknown as VirtualMachineInstance;

const facts: TargetStatusFacts = { node: "n2", domain: undefined, now: Date.parse(end) };

test("checks again while a target does not listen, and then publishes where it listens", () => {
  expect(targetStatus(vmi, facts)).toMatchObject({ requeueSeconds: 1, events: [] });
  const listener = { address: "192.0.2.2", ports: { "40001": 0 } };
  const { vmi: told, events } = targetStatus(vmi, { ...facts, listener });
  expect(told.status?.migrationState).toMatchObject({
    targetNodeAddress: "192.0.2.2",
    targetState: { nodeAddress: "192.0.2.2", directMigrationNodePorts: { "40001": 0 } },
  });
  expect(events).toMatchObject([{ reason: "PreparingTarget" }]);
  expect(targetStatus(told, { ...facts, listener }).events).toEqual([]);
});

test("reports a copy before its guest runs", () => {
  const paused = targetStatus(vmi, { ...facts, domain: { state: "Paused", reason: "Migration" } });
  expect(paused.vmi.status?.migrationState).toMatchObject({ targetNodeDomainDetected: true });
  expect(paused.vmi.status?.migrationState).not.toHaveProperty("targetNodeDomainReadyTimestamp");
  const runs = targetStatus(paused.vmi, { ...facts, domain: { state: "Running" } }).vmi.status;
  expect(runs?.migrationState).toMatchObject({
    targetNodeDomainReadyTimestamp: end,
    targetState: { domainDetected: true, domainReadyTimestamp: end },
  });
  expect(runs?.conditions).toEqual([]);
});

test("a guest that has arrived makes this node its own; a copy that never ran is a failure", () => {
  const migration = { uid: "m1", startTimestamp: end, endTimestamp: end };
  const arrived = targetStatus(vmi, { ...facts, domain: { state: "Running", migration } });
  expect(arrived.vmi.status).toMatchObject({ nodeName: "n2", migrationTransport: "Unix" });
  expect(arrived.vmi.status).not.toHaveProperty("evacuationNodeName");
  expect(arrived.vmi.metadata?.labels).toMatchObject({ "kubevirt.io/nodeName": "n2" });
  const domain = { state: "Paused", reason: "Migration", migration };
  const failed = targetStatus(vmi, { ...facts, domain }).vmi.status;
  expect(failed).toMatchObject({
    nodeName: "n1",
    migrationState: { failed: true, completed: true },
  });
});

test("after finalization and clean-up, no label or annotation of the migration is left", () => {
  const done = cleanedUp(finalized(vmi));
  expect(done.status?.migrationState?.completed).toBe(true);
  expect(done.metadata?.labels).toEqual({ "kubevirt.io/nodeName": "n1" });
  expect(done.metadata?.annotations).toEqual({ keep: "y" });
});
