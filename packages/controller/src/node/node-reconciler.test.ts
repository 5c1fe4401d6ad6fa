import { names } from "@virtkit/api/names";
import { expect, test } from "vitest";
import type { PlannedWrite } from "../plan/plan.ts";
import { nodeReconciler } from "./node-reconciler.ts";

const { annotations, nodeLabels } = names();

test("a node without a recent heartbeat becomes unschedulable and is looked at again", async () => {
  const writes: PlannedWrite[] = [];
  const events: unknown[] = [];
  const node = {
    kind: "Node",
    metadata: {
      name: "n1",
      labels: { [nodeLabels.schedulable]: "true" },
      annotations: { [annotations.heartbeat]: "2025-12-31T23:00:00Z" },
    },
  };
  const reconcile = nodeReconciler({
    target: {
      write: async (write) => {
        writes.push(write);
        return undefined;
      },
    },
    record: (about, { reason }) => events.push([about, reason]),
    view: async (name) => ({ name, node, vmis: [], pods: [], daemonSets: [] }),
    config: {},
    wall: () => new Date("2026-01-01T00:00:00Z"),
  });
  expect(await reconcile({ name: "n1" })).toEqual({ requeueAfter: 60_000 });
  expect(writes).toMatchObject([{ kind: "patch", object: { name: "n1" } }]);
  expect(events).toEqual([[node, "NodeUnresponsive"]]);
});
