import { clusterConfig } from "@virtkit/api/config";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { planSourcePass, type SourcePassFacts } from "./plan-source-pass.ts";

const end = "2026-01-01T00:00:00Z";

const vmiIn = (migrationState: object, status: object = {}): VirtualMachineInstance =>
  ({
    metadata: { name: "vm", namespace: "ns", uid: "u1" },
    spec: { domain: { devices: {} } },
    status: {
      nodeName: "n1",
      migrationState: { migrationUid: "m1", sourceNode: "n1", targetNode: "n2", ...migrationState },
      ...status,
    },
  }) as VirtualMachineInstance;

const facts: SourcePassFacts = {
  node: "n1",
  domain: { state: "Running", vmiUid: "u1" },
  config: clusterConfig(),
  now: Date.parse(end) + 10_000,
};

test("waits for the target, and writes nothing if nothing changes", () => {
  const pass = planSourcePass(vmiIn({ failed: false }), facts);
  expect(pass).toMatchObject({ step: { step: "wait" }, requeueSeconds: 1, events: [] });
  expect(pass).not.toHaveProperty("migrationState");
});

test("writes what the launcher reports, and looks again while the target may see the guest", () => {
  const migration = { uid: "m1", startTimestamp: end, endTimestamp: end, failed: true };
  const started = vmiIn({ startTimestamp: end });
  const pass = planSourcePass(started, { ...facts, domain: { state: "Running", migration } });
  expect(pass.migrationState).toMatchObject({ failed: true, endTimestamp: end });
  expect(pass.requeueSeconds).toBe(50);
});

test("closes the sockets to the target when the migration is over", () => {
  expect(planSourcePass(vmiIn({ endTimestamp: end, completed: true }), facts)).toMatchObject({
    step: { step: "none" },
    closeSockets: true,
  });
});

test.each([
  ["no VMI", undefined, {}],
  ["a VMI that is final", vmiIn({}, { phase: "Succeeded" }), {}],
  ["the domain of an older VMI", vmiIn({}), { domain: { state: "Running", vmiUid: "u0" } }],
  ["another node's migration", vmiIn({}), { node: "n3" }],
])("ignores %s", (_what, vmi, changes) => {
  const pass = planSourcePass(vmi, { ...facts, ...changes });
  expect(pass).toMatchObject({ step: { step: "none" }, closeSockets: false, events: [] });
  expect(pass).not.toHaveProperty("migrationState");
});
