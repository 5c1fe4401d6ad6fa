import { clusterConfig } from "@virtkit/api/config";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { done, reasonsOf, refused, writesOf } from "../testing/vm-objects.ts";
import { planWorkloadUpdate } from "./plan-workload-update.ts";
import type { WorkloadView } from "./workload-view.ts";

const config = clusterConfig();
const now = Date.parse("2026-01-01T00:00:00Z");

function vmi(
  name: string,
  { migratable = true, image = "old", conditions = [] as { type: string; status: string }[] } = {},
): VirtualMachineInstance {
  const status = migratable ? "True" : "False";
  return {
    metadata: { name, namespace: "ns", uid: name },
    spec: { domain: { devices: {} } },
    status: {
      phase: "Running",
      nodeName: "n1",
      launcherContainerImageVersion: image,
      conditions: [{ type: "LiveMigratable", status }, ...conditions],
    },
  };
}

function podOf(name: string): WorkloadView["pods"][number] {
  return {
    metadata: {
      name: `launcher-${name}`,
      namespace: "ns",
      ownerReferences: [{ apiVersion: "v", kind: "k", name, uid: name, controller: true }],
    },
    spec: { nodeName: "n1" },
  };
}

function viewOf(
  vmis: readonly VirtualMachineInstance[],
  more: Partial<WorkloadView> = {},
): WorkloadView {
  return {
    kubevirt: {
      metadata: { name: "kubevirt", namespace: "kubevirt" },
      spec: { workloadUpdateStrategy: { workloadUpdateMethods: ["LiveMigrate", "Evict"] } },
      status: { phase: "Deployed", outdatedVirtualMachineInstanceWorkloads: vmis.length },
    },
    vmis,
    migrations: [],
    pods: vmis.map(({ metadata }) => podOf(metadata?.name ?? "")),
    launcherImage: "new",
    ...more,
  };
}

test("migrates a VMI that can migrate, and evicts one that cannot", () => {
  const plan = planWorkloadUpdate(viewOf([vmi("a"), vmi("b", { migratable: false })]), config, now);
  expect(writesOf(plan)).toEqual([
    "create virtualmachineinstancemigrations",
    "create pods/eviction",
  ]);
  expect(reasonsOf(plan)).toEqual(["SuccessfulCreate", "SuccessfulEvict"]);
  expect(plan.requeueAfterSeconds).toBe(30);
  expect(plan.evictedAt).toBe(now);
});

test("evicts in batches, with time between them", () => {
  const vmis = Array.from({ length: 12 }, (_, n) => vmi(`v${n}`, { migratable: false }));
  expect(planWorkloadUpdate(viewOf(vmis), config, now).writes).toHaveLength(10);
  const soon = planWorkloadUpdate(viewOf(vmis, { lastEviction: now - 30_000 }), config, now);
  expect([soon.writes.length, soon.evictedAt]).toEqual([0, undefined]);
});

test("creates no more migrations than the cluster has places for", () => {
  const vmis = Array.from({ length: 8 }, (_, n) => vmi(`v${n}`));
  const migrations = [
    {
      metadata: { name: "m", namespace: "ns" },
      spec: { vmiName: "v0" },
      status: { phase: "Running" },
    },
  ];
  const plan = planWorkloadUpdate(viewOf(vmis, { migrations }), config, now);
  expect(plan.writes).toHaveLength(4);
});

test("shuffles the candidates, so that failing ones do not block the others", () => {
  const numbers = [0.9, 0.1];
  const vmis = [vmi("a"), vmi("b")];
  const plan = planWorkloadUpdate(viewOf(vmis), config, now, [], {
    random: () => numbers.shift() ?? 0,
  });
  const names = plan.events.map(({ about }) => about?.metadata?.name);
  expect(names).toEqual(["b", "a"]);
});

test("ends the migration of a change that was reverted", () => {
  const annotations = { [config.names.annotations.workloadUpdateMigration]: "" };
  const migrations = [
    { metadata: { name: "m", namespace: "ns", uid: "m", annotations }, spec: { vmiName: "a" } },
  ];
  const taken = planWorkloadUpdate(
    viewOf([vmi("a", { image: "new" })], { migrations }),
    config,
    now,
    [done],
  );
  expect(reasonsOf(taken)).toEqual(["SuccessfulChangeAbortion"]);
  expect(taken.writes.at(-1)).toMatchObject({ kind: "delete", uid: "m" });
});

test("reports a VMI without a Pod and continues", () => {
  const vmis = [vmi("a", { migratable: false }), vmi("b", { migratable: false })];
  const plan = planWorkloadUpdate(viewOf(vmis, { pods: [podOf("b")] }), config, now);
  expect(reasonsOf(plan)).toEqual(["FailedEvict", "SuccessfulEvict"]);
});

test("counts a missing Pod as evicted, but not a protected one", () => {
  const view = viewOf([vmi("a", { migratable: false })]);
  const gone = planWorkloadUpdate(view, config, now, [refused("NotFound")]);
  expect([reasonsOf(gone), gone.error]).toEqual([["SuccessfulEvict"], undefined]);
  const guarded = planWorkloadUpdate(view, config, now, [refused("TooManyRequests")]);
  expect(guarded.error).toMatchObject({ kind: "api", reason: "TooManyRequests" });
});

test("does nothing while the cluster itself is being updated", () => {
  const view = viewOf([vmi("a")]);
  const status = { phase: "Deployed", observedDeploymentID: "1", targetDeploymentID: "2" };
  const updating = { ...view, kubevirt: { ...view.kubevirt, status } };
  expect(planWorkloadUpdate(updating, config, now).writes).toEqual([]);
});
