import { crds } from "@virtkit/api/crd";
import { names } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { at } from "@virtkit/api/shape";
import type { KubeObject } from "@virtkit/kube";
import type { TestCluster } from "@virtkit/testing/cluster";
import { perturbationReportText, perturbScenario, type Scenario } from "@virtkit/testing/faults";
import { describe, expect, test } from "vitest";
import { nodeResource, podResource, vmiResource } from "../plan/resources.ts";
import { worldConfig } from "../testing/service-world.ts";
import { PhaseWatch } from "../vmi/testing/phase-watch.ts";
import { createControllers } from "./create-controllers.ts";
import { daemonSetResource } from "./shared-resources.ts";
import { admittedVmi } from "./testing/admit-vmi.ts";

const vmis = vmiResource(names());
const name = { namespace: "default", name: "demo" };
const key = "default/demo";

const controller: Scenario["actors"][string] = async ({ client, clock, random, wall, signal }) =>
  await createControllers({ client, clock, random, wall, config: () => worldConfig }).run({
    signal,
  });

/** The VMIs that the API server has now. */
function stored({ server }: TestCluster): readonly VirtualMachineInstance[] {
  return server.table(server.kind(vmis)).list() as unknown as VirtualMachineInstance[];
}
const watched = new WeakMap<TestCluster, PhaseWatch>();

const invariants: NonNullable<Scenario["invariants"]> = {
  "at most one copy runs": (cluster) => {
    const running = cluster.launchers(key).filter(({ isRunning }) => isRunning);
    return running.length > 1 ? `${running.length} run` : undefined;
  },
  "a VMI is let go only when nothing of it runs": (cluster) => {
    const there = new Set(stored(cluster).map(({ metadata }) => metadata?.uid));
    const left = cluster
      .launchers(key)
      .find(({ identity, isRunning }) => isRunning && !there.has(identity.vmiUid));
    return left && `the guest of ${left.identity.vmiUid} runs`;
  },
  "no VMI fails while a copy of it runs": (cluster) => {
    const failed = stored(cluster).filter(({ status }) => status?.phase === "Failed");
    const copy = cluster
      .launchers(key)
      .find(
        ({ identity, isRunning }) =>
          isRunning && failed.some(({ metadata }) => metadata?.uid === identity.vmiUid),
      );
    return copy && `it has failed, and runs on ${copy.node}`;
  },
  "phases only move forward": (cluster) => {
    const phases = watched.get(cluster) ?? new PhaseWatch();
    watched.set(cluster, phases);
    return stored(cluster)
      .map((vmi) => phases.look(vmi))
      .find(Boolean);
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

/** Longer than the five minutes without a heartbeat, the minute until the next look, and a disturbance. */
const silence = 7 * 60_000;

/** What node agents run in. Without it nothing is decided about VMIs on a silent node. */
const agents = {
  metadata: {
    namespace: "default",
    name: "agents",
    labels: { [names().labels.app]: "virt-handler" },
  },
  status: { desiredNumberScheduled: 1, currentNumberScheduled: 1 },
} as KubeObject;

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
  "a node agent that is silent until its node counts as unresponsive": async (cluster) => {
    const user = cluster.client("user");
    await user.create(daemonSetResource, agents);
    await start(cluster);
    await expectRunning(cluster);
    cluster.network.cut("node agent node-1", "api-server");
    await cluster.clock.pass(silence);
    const node = await user.get(nodeResource, { name: "node-1" });
    expect(node.metadata.labels?.[names().nodeLabels.schedulable]).toBe("false");
    await expectRunning(cluster);
    cluster.network.mendAll();
    await remove(cluster);
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

/** Changes each VMI that is being deleted, which no controller should. */
const naive =
  (body: object, options: { readonly subresource?: string } = {}): Scenario["actors"][string] =>
  async ({ client, signal }) => {
    for await (const { type, object } of client.watch(vmis, { namespace: "default", signal })) {
      if (type === "BOOKMARK" || !object.metadata.deletionTimestamp) continue;
      await client.patch(vmis, name, { type: "merge", body }, options).catch(() => {});
    }
  };
/** Releases it, which the finalizer exists to prevent. */
const letGo = naive({ metadata: { finalizers: null } });

/** A VMI is deleted while its node is cut off. */
const cutOff = (others: Scenario["actors"], then: Scenario["play"] = async () => {}): Scenario => ({
  ...scenario("a VMI that is deleted while its node is cut off", { controller, ...others }),
  play: async (cluster) => {
    await start(cluster);
    await expectRunning(cluster);
    cluster.network.cut("node agent node-1", "api-server");
    cluster.network.cut("kubelet node-1", "api-server");
    await remove(cluster);
    await cluster.clock.pass(1_000);
    await then(cluster);
    await cluster.clock.pass(10_000);
  },
});

describe("control: what breaks a rule is found", () => {
  test("no rule is broken without a mistake", async () => {
    const { findings } = await perturbScenario(cutOff({}), { only: "none" });
    expect(findings).toEqual([]);
  });

  test("the only VMI is released without proof", async () => {
    await expect(perturbScenario(cutOff({ letGo }))).rejects.toThrow(
      "a VMI is let go only when nothing of it runs",
    );
  });

  test("a VMI is released without proof, and the next one is created", async () => {
    const again = cutOff({ letGo }, async (cluster) => {
      await cluster.client("user").create(vmis, admittedVmi("demo"));
    });
    await expect(perturbScenario(again)).rejects.toThrow(
      "a VMI is let go only when nothing of it runs",
    );
  });

  test("a phase goes back", async () => {
    const back = naive({ status: { phase: "Scheduled" } }, { subresource: "status" });
    await expect(perturbScenario(cutOff({ back }))).rejects.toThrow(
      "phases only move forward: the phase went from Running to Scheduled",
    );
  });
});
