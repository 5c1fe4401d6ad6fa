import { crds } from "@virtkit/api/crd";
import { names } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { KubeObject } from "@virtkit/kube";
import type { TestCluster } from "@virtkit/testing/cluster";
import {
  type ActorMain,
  perturbationReportText,
  perturbScenario,
  rotatingSeeds,
  type Scenario,
} from "@virtkit/testing/faults";
import { expect, test } from "vitest";
import { claimResource, podResource, vmiResource } from "../plan/resources.ts";
import { createControllers } from "../service/create-controllers.ts";
import { nodePart } from "../service/node-part.ts";
import { admittedVmi } from "../service/testing/admit-vmi.ts";
import { vmiPart } from "../service/vmi-part.ts";
import { ScriptedVolumes } from "../testing/scripted-volumes.ts";
import { worldConfig } from "../testing/service-world.ts";
import type { PodObject } from "./cluster-objects.ts";

type Pod = PodObject & KubeObject;

const vmis = vmiResource(names());
const at = { namespace: "default", name: "vm" };

const controller: ActorMain = async ({ signal, ...parts }) => {
  const config = () => worldConfig;
  await createControllers({ ...parts, config, parts: [vmiPart, nodePart] }).run({ signal });
};

/** The attachment Pods in the API server, and the volumes that guests use. */
interface World {
  readonly volumes: ScriptedVolumes;
  readonly attachments: Map<string, Pod>;
}
const worlds = new WeakMap<TestCluster, World>();

/** Follows a cluster from the first question on. */
function worldOf(cluster: TestCluster): World {
  const known = worlds.get(cluster);
  if (known) return known;
  const attachments = new Map<string, Pod>();
  cluster.server.log.follow(({ kind, type, object }) => {
    const pod = object as Pod;
    if (kind !== "/pods" || pod.metadata.labels?.[names().labels.app] !== "hotplug-disk") return;
    if (type === "DELETED") attachments.delete(String(pod.metadata.uid));
    else attachments.set(String(pod.metadata.uid), pod);
  });
  const world = { volumes: new ScriptedVolumes(), attachments };
  worlds.set(cluster, world);
  return world;
}

const invariants: NonNullable<Scenario["invariants"]> = {
  "at most one copy runs": (cluster) => {
    const running = cluster.launchers("default/vm").filter(({ isRunning }) => isRunning);
    return running.length > 1 ? `${running.length} run` : undefined;
  },
  "a volume that the guest uses keeps a Pod that runs and holds it": (cluster) => {
    const { volumes, attachments } = worldOf(cluster);
    const held = [...attachments.values()]
      .filter(({ status }) => status?.phase === "Running")
      .flatMap(({ spec }) => spec?.volumes ?? []);
    const lost = [...volumes.mounted].find((name) => !held.some((each) => each.name === name));
    return lost && `${lost} is used`;
  },
};

async function start(cluster: TestCluster): Promise<void> {
  const user = cluster.client("user");
  for (const name of ["one", "two"]) {
    const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
    const claim = { metadata: { namespace: "default", name }, spec } as KubeObject;
    await user.create(claimResource, claim);
    const body = { status: { phase: "Bound" } };
    const patch = { type: "merge", body } as const;
    await user.patch(claimResource, { namespace: "default", name }, patch, {
      subresource: "status",
    });
  }
  await user.create(vmis, admittedVmi("vm"));
  await cluster.settle({ quiet });
}

/** Longer than the 20 s for which a disturbed controller sees nothing or an old state. */
const quiet = 35_000;

/** The user says which volumes the guest should have, and gets them. */
async function plug(cluster: TestCluster, ...wanted: readonly string[]): Promise<void> {
  const user = cluster.client("user");
  const volumes = wanted.map((name) => ({
    name,
    persistentVolumeClaim: { claimName: name, hotpluggable: true },
  }));
  const disks = wanted.map((name) => ({ name, disk: { bus: "scsi" } }));
  const body = { spec: { volumes, domain: { devices: { disks } } } };
  await user.patch(vmis, at, { type: "merge", body });
  await cluster.settle({ quiet });
  const { status } = (await user.get(vmis, at)) as VirtualMachineInstance;
  const shown = (status?.volumeStatus ?? []).map(({ name, phase }) => `${name} ${phase}`);
  expect(shown).toEqual(wanted.map((name) => `${name} Ready`));
  expect([...worldOf(cluster).volumes.mounted].toSorted()).toEqual(wanted);
  expect(worldOf(cluster).attachments.size).toBe(wanted.length > 0 ? 1 : 0);
}

/** Runs the nodes' part in volumes beside a story. */
function withVolumes(story: Scenario["play"]): Scenario["play"] {
  return async (cluster) => {
    const over = new AbortController();
    const { clock, random } = cluster;
    const running = worldOf(cluster).volumes.run({
      ...{ client: cluster.client("volumes"), clock, random: random.fork() },
      signal: over.signal,
    });
    try {
      await story(cluster);
    } finally {
      over.abort();
      await running;
    }
  };
}

const scenario = (name: string, actors: Scenario["actors"], play: Scenario["play"]): Scenario => ({
  ...{ name, actors, invariants, play: withVolumes(play) },
  cluster: { guests: true, objects: crds() as unknown as KubeObject[] },
});

/**
 * The kinds of perturbation repeat every 2 and every 4, so each share has some of every kind.
 * Eleven seeds cover all.
 */
const every = 11;

test("volumes come and go under every crash, lost answer, lagging view and missed event", async () => {
  const name = "volumes plugged and unplugged";
  const story = scenario(name, { controller }, async (cluster) => {
    await start(cluster);
    await plug(cluster, "one");
    await plug(cluster, "one", "two");
    await plug(cluster, "two");
    await cluster.client("user").delete(vmis, at);
    await cluster.settle({ quiet });
    const left = await cluster.client("user").list(podResource);
    expect([left.items, worldOf(cluster).attachments.size]).toEqual([[], 0]);
  });
  for (const seed of rotatingSeeds(`one of ${every} shares of: ${name}`, 1)) {
    const report = await perturbScenario(story, { share: { every, seed } });
    expect(perturbationReportText(report)).toBe(
      `${name}: ${report.runs} perturbations, 0 found something`,
    );
    expect(report.runs).toBeGreaterThan(15);
  }
});

/**
 * Deletes each attachment Pod that does not carry exactly what the spec says, even if it is in use.
 */
const naive: ActorMain = async ({ client, signal }) => {
  for await (const { type, object } of client.watch(vmis, { namespace: "default", signal })) {
    if (type === "BOOKMARK") continue;
    const wanted = ((object as VirtualMachineInstance).spec?.volumes ?? []).length;
    const labelSelector = `${names().labels.app}=hotplug-disk`;
    const { items } = await client.list(podResource, { namespace: "default", labelSelector });
    for (const { metadata, spec } of items as Pod[]) {
      const carried = (spec?.volumes ?? []).filter((each) => each.persistentVolumeClaim);
      if (carried.length !== wanted) await client.delete(podResource, metadata as never);
    }
  }
};

test("control: a controller that deletes a Pod before its volume is unmounted is found", async () => {
  const played = perturbScenario(
    scenario("a Pod too early", { controller, naive }, async (cluster) => {
      await start(cluster);
      await plug(cluster, "one");
      await plug(cluster, "one", "two");
    }),
  );
  await expect(played).rejects.toThrow("a volume that the guest uses keeps a Pod that runs");
});
