import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { sourceStatus } from "./source-status.ts";

const end = "2026-01-01T00:00:00Z";
const now = Date.parse(end) + 30_000;

const vmi = {
  metadata: {},
  spec: { domain: { devices: {} } },
  status: {
    nodeName: "n1",
    migrationState: { migrationUid: "m1", sourceNode: "n1", targetNode: "n2", mode: "PreCopy" },
  },
} as VirtualMachineInstance;

test("copies what the launcher reports about this migration", () => {
  const migration = { uid: "m1", startTimestamp: end, mode: "Paused" as const };
  const found = sourceStatus(vmi, { node: "n1", domain: { state: "Running", migration }, now });
  expect(found?.migrationState).toMatchObject({ startTimestamp: end, mode: "Paused" });
  const other = { ...migration, uid: "m0" };
  expect(
    sourceStatus(vmi, { node: "n1", domain: { state: "Running", migration: other }, now }),
  ).toMatchObject({ migrationState: vmi.status?.migrationState });
});

test("a recent failure loses nothing, because the guest keeps running here", () => {
  const migration = { uid: "m1", endTimestamp: end, failed: true, failureReason: "boom" };
  const domain = { state: "Running", migration };
  expect(sourceStatus(vmi, { node: "n1", domain, now })).toMatchObject({
    migrationState: { failed: true, completed: true, failureReason: "boom" },
    isLost: false,
    events: [{ type: "Warning" }],
  });
});

test("a guest that nobody has seen at its target for a minute is lost from then on", () => {
  const migrationState = { ...vmi.status?.migrationState, endTimestamp: end };
  const gone = { ...vmi, status: { ...vmi.status, migrationState } } as VirtualMachineInstance;
  const at = (seconds: number): boolean | undefined =>
    sourceStatus(gone, { node: "n1", domain: undefined, now: Date.parse(end) + seconds * 1000 })
      ?.isLost;
  expect([at(59), at(60)]).toEqual([false, true]);
});

test("a VMI without a migration has no migration status", () => {
  const still = { ...vmi, status: {} } as VirtualMachineInstance;
  expect(sourceStatus(still, { node: "n1", domain: undefined, now })).toBeUndefined();
});
