import { clusterConfig } from "@virtkit/api/config";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { reasonsOf, refused, writesOf } from "../testing/vm-objects.ts";
import { type NodeEvacuationView, planNodeEvacuation } from "./plan-node-evacuation.ts";

const config = clusterConfig();
const now = Date.parse("2026-01-01T00:00:00Z");

function vmi(name: string): VirtualMachineInstance {
  return {
    metadata: { name, namespace: "ns", uid: name },
    spec: { domain: { devices: {} }, evictionStrategy: "LiveMigrate" },
    status: {
      phase: "Running",
      nodeName: "n1",
      conditions: [{ type: "LiveMigratable", status: "True" }],
    },
  };
}

const view: NodeEvacuationView = {
  node: {
    metadata: { name: "n1" },
    spec: { taints: [{ key: config.migrations.nodeDrainTaintKey, effect: "NoSchedule" }] },
  },
  vmis: [vmi("a"), vmi("b")],
  migrations: [],
  pods: [],
};

test("creates a migration for each VMI of a drained node, with an event about the VMI", () => {
  const plan = planNodeEvacuation(view, config, now);
  expect(writesOf(plan)).toEqual([
    "create virtualmachineinstancemigrations",
    "create virtualmachineinstancemigrations",
  ]);
  expect(plan.events.map(({ about }) => [about?.kind, about?.metadata?.name])).toEqual([
    ["VirtualMachineInstance", "a"],
    ["VirtualMachineInstance", "b"],
  ]);
});

test("a refused migration does not keep the other VMIs on the node", () => {
  const plan = planNodeEvacuation(view, config, now, [refused("Forbidden")]);
  expect(reasonsOf(plan)).toEqual(["FailedCreate", "SuccessfulCreate"]);
  expect(plan.error).toMatchObject({ kind: "api", reason: "Forbidden" });
});

test("creates nothing while the view does not show earlier writes", () => {
  const waiting = planNodeEvacuation({ ...view, expected: "creation" }, config, now);
  expect(waiting).toEqual({ writes: [], events: [] });
});
