import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { at } from "@virtkit/api/shape";
import { defineResource, type KubeObject } from "@virtkit/kube";
import type { TestCluster } from "@virtkit/testing/cluster";
import {
  perturbScenario,
  rotatingSeeds,
  type Scenario,
  shakeReportText,
  shakeScenario,
} from "@virtkit/testing/faults";
import { afterAll, describe, expect, test } from "vitest";
import {
  admittedMigration,
  controlPlane,
  key,
  migrations,
  nodes,
  startVmi,
  vm,
  vmis,
} from "../testing/control-plane.ts";
import { removeDisks } from "../testing/simulated-node.ts";

afterAll(removeDisks);

/** Longer than the five minutes after which a node counts as unresponsive, and the minute until the next look at it. */
const silence = 7 * 60_000;

const daemonSets = defineResource({
  ...{ group: "apps", version: "v1", plural: "daemonsets", kind: "DaemonSet" },
});

/** What the node agents run in. Without it nothing is decided about VMIs on a silent node. */
const agents = {
  ...{ apiVersion: "apps/v1", kind: "DaemonSet" },
  metadata: { namespace: "default", name: "agents", labels: { "kubevirt.io": "virt-handler" } },
  status: { desiredNumberScheduled: 2, currentNumberScheduled: 2 },
} as KubeObject;

function stored({ server }: TestCluster): readonly VirtualMachineInstance[] {
  return server.table(server.kind(vmis)).list() as unknown as VirtualMachineInstance[];
}

function scenario(name: string, play: Scenario["play"]): Scenario {
  const base = controlPlane(name, async (cluster) => {
    await cluster.client("user").create(daemonSets, agents);
    await startVmi(cluster);
    await play(cluster);
  });
  return {
    ...base,
    invariants: {
      ...base.invariants,
      "no VMI fails while a copy of it runs": (cluster) => {
        const failed = stored(cluster).find(({ status }) => status?.phase === "Failed");
        const copy = cluster
          .launchers(key)
          .find(
            ({ identity, isRunning }) => isRunning && identity.vmiUid === failed?.metadata?.uid,
          );
        return copy && `it has failed (${failed?.status?.reason ?? ""}) and runs on ${copy.node}`;
      },
    },
  };
}

const running = (cluster: TestCluster): readonly string[] =>
  cluster
    .launchers(key)
    .filter(({ isRunning }) => isRunning)
    .map(({ node }) => node);

/** Cuts the agents of nodes off from the API server, but not their kubelets. */
async function silenceAgents(
  { network, clock }: TestCluster,
  ...names: readonly string[]
): Promise<void> {
  for (const name of names) network.cut(`node agent ${name}`, "api-server");
  await clock.pass(silence);
}

async function startMove(cluster: TestCluster): Promise<void> {
  await cluster.client("user").create(migrations, admittedMigration("move"));
  await cluster.clock.pass(4_000);
}

/** Where the guest runs in the end, and what its VMI says. */
async function expectRunning(cluster: TestCluster): Promise<string> {
  cluster.network.mendAll();
  await cluster.settle({ quiet: 180_000 });
  const vmi = await cluster.client("user").get(vmis, vm);
  const [node = "nowhere", ...others] = running(cluster);
  expect([others, at(vmi, "status", "nodeName"), at(vmi, "status", "phase")]).toEqual([
    [],
    node,
    "Running",
  ]);
  return node;
}

describe("agents that are silent for longer than the controllers wait: the VMI does not fail", () => {
  test("of a node where a guest runs", async () => {
    const story = scenario("a silent agent", async (cluster) => {
      await silenceAgents(cluster, "node-1");
      const node = await cluster.client("user").get(nodes, { name: "node-1" });
      expect(node.metadata.labels?.["kubevirt.io/schedulable"]).toBe("false");
      expect(await expectRunning(cluster)).toBe("node-1");
    });
    await perturbScenario(story, { only: "none" });
  });

  test("of both nodes while the guest moves between them", async () => {
    const story = scenario("silent agents of a migration", async (cluster) => {
      await startMove(cluster);
      await silenceAgents(cluster, "node-1", "node-2");
      // The handover was completed without the API server, and the source's kubelet has reported the end of its launcher.
      expect(running(cluster)).toEqual(["node-2"]);
      expect(at(stored(cluster)[0], "status", "nodeName")).toBe("node-1");
      expect(await expectRunning(cluster)).toBe("node-2");
    });
    await perturbScenario(story, { only: "none" });
  });

  test("of both nodes, while everybody crashes, lags and is partitioned", async () => {
    const name = "silent agents of a disturbed migration";
    const story = scenario(name, async (cluster) => {
      await startMove(cluster);
      await silenceAgents(cluster, "node-1", "node-2");
      await expectRunning(cluster);
    });
    const seeds = rotatingSeeds(name, 2);
    const report = await shakeScenario(story, { seeds });
    expect(shakeReportText(report)).toBe(`${name}: ${seeds.length} seeds, 0 found something`);
  });
});
