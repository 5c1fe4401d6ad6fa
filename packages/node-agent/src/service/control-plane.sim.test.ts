import { decodeGrant, encodeGrant, grantAnnotation } from "@virtkit/api/grant";
import { names as namesOf } from "@virtkit/api/names";
import { at } from "@virtkit/api/shape";
import type { TestCluster } from "@virtkit/testing/cluster";
import {
  type NodeActorMain,
  perturbationReportText,
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

const names = namesOf();

afterAll(removeDisks);

/** Where the one copy runs, and what the VMI and its grant say. */
async function told(cluster: TestCluster): Promise<readonly unknown[]> {
  const vmi = await cluster.client("user").get(vmis, vm);
  const grant = decodeGrant(
    vmi.metadata.annotations?.[names.own(grantAnnotation)],
    vmi.metadata.uid ?? "",
  );
  const running = cluster.launchers(key).filter(({ isRunning }) => isRunning);
  const holder = "holder" in grant ? grant.holder?.node : undefined;
  return [running.map(({ node }) => node), at(vmi, "status", "nodeName"), grant.state, holder];
}

async function expectOneCopy(cluster: TestCluster): Promise<string> {
  await cluster.settle({ quiet: 180_000 });
  const [running] = (await told(cluster)) as [string[]];
  const [node = "nowhere"] = running;
  expect(await told(cluster)).toEqual([[node], node, "Claimed", node]);
  return node;
}

/** A guest whose memory is lost may have ended; it does not run in two places, and where it runs its grant says so. */
async function expectAtMostOne(cluster: TestCluster): Promise<void> {
  await cluster.settle({ quiet: 180_000 });
  const [running, , state, holder] = (await told(cluster)) as [string[], string, string, string];
  if (running.length > 0) expect([state, [holder]]).toEqual(["Claimed", running]);
  else expect(state).toBe("Ended");
}

async function move(cluster: TestCluster, milliseconds: number): Promise<void> {
  await cluster.client("user").create(migrations, admittedMigration("move"));
  await cluster.clock.pass(milliseconds);
}

/** One of the two nodes loses its power while the guest moves between them, and has it back half a minute later. */
async function losePower(cluster: TestCluster, side: "source" | "target"): Promise<void> {
  await startVmi(cluster);
  const [launcher] = cluster.launchers(key);
  await move(cluster, 4_000);
  const isSource = ({ name }: { readonly name: string }) => name === launcher?.node;
  const node = cluster.nodes.find((each) => isSource(each) === (side === "source"));
  node?.cutPower();
  await cluster.clock.pass(30_000);
  await node?.start();
  await expectAtMostOne(cluster);
}

const phaseOf = async (cluster: TestCluster) =>
  at(
    await cluster.client("user").get(migrations, { namespace: "default", name: "move" }),
    "status",
    "phase",
  );

/** What happens to a guest that runs on node-1, and what must be so in the end, whatever goes wrong. */
const plays: Readonly<Record<string, Scenario["play"]>> = {
  "a migration": async (cluster) => {
    await startVmi(cluster);
    await move(cluster, 4_000);
    await expectOneCopy(cluster);
  },
  "a migration that is aborted": async (cluster) => {
    await startVmi(cluster);
    await move(cluster, 4_000);
    await cluster.client("user").delete(migrations, { namespace: "default", name: "move" });
    await expectOneCopy(cluster);
  },
  "a drained node": async (cluster) => {
    await startVmi(cluster);
    const taints = [{ key: "kubevirt.io/drain", effect: "NoSchedule" }];
    const body = { spec: { unschedulable: true, taints } };
    await cluster.client("user").patch(nodes, { name: "node-1" }, { type: "merge", body });
    await cluster.clock.pass(4_000);
    await expectOneCopy(cluster);
  },
  "a source that loses power during a migration": (cluster) => losePower(cluster, "source"),
  "a target that loses power during a migration": (cluster) => losePower(cluster, "target"),
  "nodes that lose their connection during a migration": async (cluster) => {
    await startVmi(cluster);
    await move(cluster, 4_000);
    cluster.network.cut("node-1", "node-2");
    await cluster.clock.pass(60_000);
    cluster.network.mendAll();
    await expectOneCopy(cluster);
  },
};

describe("undisturbed", () => {
  test("a guest moves, and its migration says so", async () => {
    const scenario = controlPlane("a migration", async (cluster) => {
      await startVmi(cluster);
      await move(cluster, 60_000);
      expect(await expectOneCopy(cluster)).toBe("node-2");
      expect(await phaseOf(cluster)).toBe("Succeeded");
    });
    const { counts } = await perturbScenario(scenario, { only: "none" });
    expect(counts["node agent node-2"]?.writes).toBeGreaterThan(2);
  });

  test("a drained node hands its guest over", async () => {
    const scenario = controlPlane("a drained node", async (cluster) => {
      await plays["a drained node"]?.(cluster);
      expect(await expectOneCopy(cluster)).toBe("node-2");
    });
    await perturbScenario(scenario, { only: "none" });
  });
});

describe("controllers and node agents crash, lag and are partitioned", () => {
  test.each(Object.keys(plays))("%s: at most one copy, and nothing stays stuck", async (title) => {
    const scenario = controlPlane(title, plays[title] ?? (async () => {}));
    const seeds = rotatingSeeds(`control plane, ${title}`, 2);
    const report = await shakeScenario(scenario, { seeds });
    expect(shakeReportText(report)).toBe(`${title}: ${seeds.length} seeds, 0 found something`);
    expect(report.schedules.size).toBe(seeds.length);
  });

  test("a seed repeats the same run", async () => {
    const [seed = 0] = rotatingSeeds("control plane, twice", 1);
    const title = "nodes that lose their connection during a migration";
    const scenario = controlPlane(title, plays[title] ?? (async () => {}));
    const once = await shakeScenario(scenario, { seeds: [seed] });
    const again = await shakeScenario(scenario, { seeds: [seed] });
    expect(again.schedules).toEqual(once.schedules);
  });

  test("a migration under a share of all crashes, lost answers, lagging views and unobserved events", async () => {
    const [seed = 0] = rotatingSeeds("control plane, perturbations", 1);
    const scenario = controlPlane("a migration", plays["a migration"] ?? (async () => {}));
    const report = await perturbScenario(scenario, { share: { every: 40, seed } });
    expect(perturbationReportText(report)).toBe(
      `a migration: ${report.runs} perturbations, 0 found something`,
    );
  });
});

/** Grants a guest that moves to its target, though its source has not ended. */
const naive: NodeActorMain = async ({ client, signal }) => {
  const { nodeName } = names.labels;
  for await (const { type, object } of client.watch(vmis, { namespace: "default", signal })) {
    if (type === "BOOKMARK") continue;
    const { uid = "", annotations } = object.metadata;
    const grant = decodeGrant(annotations?.[names.own(grantAnnotation)], uid);
    if (grant.state !== "HandingOver") continue;
    const { vmiUID, epoch, seq, target } = grant;
    const { node, podUID } = target;
    const next = { state: "Granted", vmiUID, epoch: epoch + 1, seq: seq + 1, podUID } as const;
    const own = { [names.own(grantAnnotation)]: encodeGrant(next) };
    const metadata = { labels: { [nodeName]: node }, annotations: own };
    const status = { phase: "Scheduled", nodeName: node, migrationState: null };
    await client.patch(vmis, vm, { type: "merge", body: { metadata, status } });
  }
};

test("control: a controller that grants without proof is caught", async () => {
  const scenario = controlPlane(
    "a migration",
    async (cluster) => {
      await startVmi(cluster);
      await move(cluster, 60_000);
    },
    { naive },
  );
  await expect(perturbScenario(scenario, { only: "none" })).rejects.toThrow(
    "at most one copy runs",
  );
});
