import { crds } from "@virtkit/api/crd";
import { names } from "@virtkit/api/names";
import type { KubeObject } from "@virtkit/kube";
import type { TestCluster } from "@virtkit/testing/cluster";
import {
  type ActorMain,
  perturbationReportText,
  perturbScenario,
  rotatingSeeds,
  type Scenario,
  shakeReportText,
  shakeScenario,
} from "@virtkit/testing/faults";
import { expect, test } from "vitest";
import { podResource, vmiResource } from "../plan/resources.ts";
import { worldConfig } from "../testing/service-world.ts";
import { createControllers } from "./create-controllers.ts";
import { admittedVmi } from "./testing/admit-vmi.ts";

const vmis = vmiResource(names());
const at = { namespace: "default", name: "vm" };
const key = "default/vm";

/** The controllers as they run in a cluster. */
const controllers: ActorMain = async ({ signal, ...parts }) => {
  await createControllers({ ...parts, config: () => worldConfig }).run({ signal });
};

/** Nodes with launcher Pods that carry guests, and scripted node agents. */
function scenario(name: string, play: Scenario["play"], actors = ["controller"]): Scenario {
  return {
    name,
    cluster: { nodes: 2, guests: true, objects: crds() as unknown as KubeObject[] },
    actors: Object.fromEntries(actors.map((actor) => [actor, controllers])),
    invariants: {
      "at most one copy runs": (cluster) => {
        const running = cluster.launchers(key).filter(({ isRunning }) => isRunning);
        return running.length > 1 ? `it runs on ${running.map(({ node }) => node)}` : undefined;
      },
    },
    play,
  };
}

async function started(cluster: TestCluster): Promise<void> {
  const user = cluster.client("user");
  await user.create(vmis, admittedVmi("vm"));
  await cluster.settle();
  expect((await cluster.guest(key).status()).state).toBe("Running");
  expect(await user.get(vmis, at)).toMatchObject({ status: { phase: "Running" } });
}

async function gone(cluster: TestCluster): Promise<void> {
  const user = cluster.client("user");
  await user.delete(vmis, at);
  await cluster.settle();
  expect((await user.list(vmis)).items).toEqual([]);
  expect((await user.list(podResource)).items).toEqual([]);
  expect(cluster.launchers()).toEqual([]);
}

test("a VMI starts, ends and is gone under every crash, lost answer, lagging view and missed event", async () => {
  const story = scenario("the life of a VMI", async (cluster) => {
    await started(cluster);
    await gone(cluster);
  });
  const report = await perturbScenario(story);
  expect(report.runs).toBeGreaterThan(20);
  expect(perturbationReportText(report)).toBe(
    `the life of a VMI: ${report.runs} perturbations, 0 found something`,
  );
});

test("two controllers, node partitions and clock jumps: at most one copy, and exactly one in the end", async () => {
  const story = scenario(
    "a VMI that is made twice",
    async (cluster) => {
      const user = cluster.client("user");
      await user.create(vmis, admittedVmi("vm"));
      await cluster.clock.pass(40_000);
      await user.delete(vmis, at);
      await cluster.settle();
      await started(cluster);
    },
    ["first", "second"],
  );
  const seeds = rotatingSeeds("two controllers with guests", 4);
  const report = await shakeScenario(story, { seeds });
  expect(shakeReportText(report)).toBe(
    `a VMI that is made twice: ${seeds.length} seeds, 0 found something`,
  );
});
