import { crds } from "@virtkit/api/crd";
import { names } from "@virtkit/api/names";
import { at } from "@virtkit/api/shape";
import { vmiPhases } from "@virtkit/api/status";
import type { KubeObject } from "@virtkit/kube";
import type { TestCluster } from "@virtkit/testing/cluster";
import { perturbationReportText, perturbScenario, type Scenario } from "@virtkit/testing/faults";
import { describe, expect, test } from "vitest";
import { podResource, vmiResource } from "../plan/resources.ts";
import { worldConfig } from "../testing/service-world.ts";
import { createControllers } from "./create-controllers.ts";
import { admittedVmi } from "./testing/admit-vmi.ts";

const vmis = vmiResource(names());
const name = { namespace: "default", name: "demo" };
const key = "default/demo";

const controller: Scenario["actors"][string] = async ({ client, clock, random, wall, signal }) =>
  await createControllers({ client, clock, random, wall, config: () => worldConfig }).run({
    signal,
  });

/** The VMIs that the API server has now, by UID. */
function follow(cluster: TestCluster): ReadonlyMap<string, KubeObject> {
  const known = followed.get(cluster);
  if (known) return known;
  const all = new Map<string, KubeObject>();
  followed.set(cluster, all);
  cluster.server.log.follow(({ kind, type, object }) => {
    if (!kind.endsWith("/virtualmachineinstances")) return;
    const uid = String(object.metadata.uid);
    if (type === "DELETED") all.delete(uid);
    else all.set(uid, object);
  });
  return all;
}
const followed = new WeakMap<TestCluster, Map<string, KubeObject>>();
const reached = new WeakMap<TestCluster, Map<string, number>>();

const invariants: NonNullable<Scenario["invariants"]> = {
  "at most one copy runs": (cluster) => {
    const running = cluster.launchers(key).filter(({ isRunning }) => isRunning);
    return running.length > 1 ? `${running.length} run` : undefined;
  },
  "a VMI is let go only when nothing of it runs": (cluster) => {
    const there = follow(cluster);
    const left = cluster
      .launchers(key)
      .find(
        ({ identity, isRunning }) => isRunning && there.size > 0 && !there.has(identity.vmiUid),
      );
    return left && `the guest of ${left.identity.vmiUid} runs`;
  },
  "phases only move forward": (cluster) => {
    const phases = reached.get(cluster) ?? new Map<string, number>();
    reached.set(cluster, phases);
    for (const [uid, vmi] of follow(cluster)) {
      const phase = String(at(vmi, "status", "phase") ?? "");
      const rank = (vmiPhases as readonly string[]).indexOf(phase);
      if (rank < (phases.get(uid) ?? 0)) return `it went back to ${phase}`;
      phases.set(uid, rank);
    }
    return undefined;
  },
};

async function expectRunning(cluster: TestCluster): Promise<void> {
  await cluster.settle({ quiet: 35_000 });
  const vmi = await cluster.client("user").get(vmis, name);
  expect([at(vmi, "status", "phase"), cluster.launchers(key).length]).toEqual(["Running", 1]);
}

async function expectNothing(cluster: TestCluster): Promise<void> {
  await cluster.settle({ quiet: 35_000 });
  const client = cluster.client("user");
  const counts = [await client.list(vmis), await client.list(podResource)];
  expect(counts.map(({ items }) => items.length)).toEqual([0, 0]);
  expect(cluster.launchers()).toEqual([]);
}
const start = (cluster: TestCluster) => cluster.client("user").create(vmis, admittedVmi("demo"));
const remove = (cluster: TestCluster) => cluster.client("user").delete(vmis, name);

/** What is done, and what must hold in the end. */
const plays: Readonly<Record<string, Scenario["play"]>> = {
  "a start, a crash, and a deletion": async (cluster) => {
    await start(cluster);
    await expectRunning(cluster);
    cluster.guest(key).happen({ kind: "qemu-ends" });
    await cluster.settle({ quiet: 35_000 });
    expect(await phaseOf(cluster)).toBe("Failed");
    await remove(cluster);
    await expectNothing(cluster);
  },
  "a node that is cut off and comes back, and a VMI that is deleted meanwhile": async (cluster) => {
    await start(cluster);
    await expectRunning(cluster);
    cluster.network.cut("node agent node-1", "api-server");
    cluster.network.cut("kubelet node-1", "api-server");
    await remove(cluster);
    await cluster.settle({ quiet: 35_000 });
    // Nothing proves yet that the guest has ended.
    expect((await cluster.client("user").list(vmis)).items).toHaveLength(1);
    cluster.network.mendAll();
    await expectNothing(cluster);
  },
  "a node that reboots while its VMI is being deleted": async (cluster) => {
    await start(cluster);
    await expectRunning(cluster);
    const [node] = cluster.nodes;
    await remove(cluster);
    // The guest has been asked to shut down, and nobody sees it end.
    node?.cutPower();
    await cluster.settle({ quiet: 35_000 });
    expect((await cluster.client("user").list(vmis)).items).toHaveLength(1);
    await node?.start();
    await expectNothing(cluster);
  },
};

const phaseOf = async (cluster: TestCluster): Promise<unknown> =>
  at(await cluster.client("user").get(vmis, name), "status", "phase");

const scenario = (title: string, actors: Scenario["actors"]): Scenario => ({
  name: title,
  cluster: { objects: crds() as unknown as KubeObject[], guests: true },
  actors,
  play: plays[title] ?? (async () => {}),
  invariants,
});

describe("a controller survives every crash, lost answer, lagging view and missed event", () => {
  test.each(Object.keys(plays))("%s", async (title) => {
    const report = await perturbScenario(scenario(title, { controller }));
    expect(perturbationReportText(report)).toBe(
      `${title}: ${report.runs} perturbations, 0 found something`,
    );
    expect(report.runs).toBeGreaterThan(60);
  });
});

/** Releases a VMI as soon as it is deleted, which the finalizer exists to prevent. */
const naive: Scenario["actors"][string] = async ({ client, signal }) => {
  for await (const { type, object } of client.watch(vmis, { namespace: "default", signal })) {
    if (type === "BOOKMARK" || !object.metadata.deletionTimestamp) continue;
    const body = { metadata: { finalizers: null } };
    await client.patch(vmis, name, { type: "merge", body }).catch(() => {});
  }
};

test("control: a controller that releases a VMI without proof is found", async () => {
  const [title = ""] = Object.keys(plays);
  const played = perturbScenario({
    ...scenario(title, { controller, naive }),
    play: async (cluster) => {
      await start(cluster);
      await expectRunning(cluster);
      cluster.network.cut("node agent node-1", "api-server");
      cluster.network.cut("kubelet node-1", "api-server");
      await remove(cluster);
      await cluster.clock.pass(1_000);
      await cluster.client("user").create(vmis, admittedVmi("demo"));
      await cluster.clock.pass(10_000);
    },
  });
  await expect(played).rejects.toThrow("a VMI is let go only when nothing of it runs");
});
