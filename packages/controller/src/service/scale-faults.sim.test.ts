import type { KubeObject, Resource } from "@virtkit/kube";
import type { TestCluster } from "@virtkit/testing/cluster";
import {
  perturbationReportText,
  perturbScenario,
  rotatingSeeds,
  type Scenario,
  shakeReportText,
  shakeScenario,
} from "@virtkit/testing/faults";
import { describe, expect, test } from "vitest";
import {
  controllerActor,
  resources,
  VmUser,
  vmClusterOptions,
  vmOf,
} from "../testing/vm-cluster.ts";
import type { ControllerPartMaker } from "./controller-part.ts";
import { nodePart } from "./node-part.ts";
import { poolPart } from "./pool-part.ts";
import { replicaSetPart } from "./replica-set-part.ts";
import { vmPart } from "./vm-part.ts";
import { vmiPart } from "./vmi-part.ts";

/** Longer than the 20 s for which a disturbed controller sees nothing or an old state. */
const quiet = 30_000;
const labels = { app: "web" };
const { spec: vmSpec } = Object(vmOf("any", "Always")) as { readonly spec: { template: object } };

/** What is scaled: the object, the part that manages it, and what it makes. */
interface Scaled {
  readonly part: ControllerPartMaker;
  readonly resource: Resource;
  readonly members: Resource;
  readonly object: KubeObject;
  readonly counts: readonly number[];
}

const objectOf = (spec: object): KubeObject =>
  ({ metadata: { namespace: "default", name: "web" }, spec }) as KubeObject;

const scaled: Readonly<Record<string, Scaled>> = {
  "a replica set": {
    part: replicaSetPart,
    resource: resources.replicaSets,
    members: resources.vmis,
    counts: [1, 3, 1],
    object: objectOf({
      replicas: 0,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, ...vmSpec.template },
    }),
  },
  "a pool": {
    part: poolPart,
    resource: resources.pools,
    members: resources.vms,
    counts: [1, 2, 1],
    object: objectOf({
      replicas: 0,
      selector: { matchLabels: labels },
      virtualMachineTemplate: { metadata: { labels }, spec: vmSpec },
    }),
  },
};

const invariants: NonNullable<Scenario["invariants"]> = {
  "at most one copy of each runs": (cluster) => {
    const running = cluster.launchers().filter(({ isRunning }) => isRunning);
    const names = running.map(({ identity }) => identity.name);
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    return twice && `${twice} runs twice`;
  },
  "what is not its own stays": (cluster) => {
    const foreign = cluster.server
      .writes()
      .find(({ verb, name, actor }) => verb === "delete" && name === "other" && actor !== "user");
    return foreign && `${foreign.actor} deleted it`;
  },
};

/** Only the controller that scales is disturbed: the others have tests of their own. */
const others = controllerActor([vmPart, vmiPart, nodePart]);

function scenario(
  name: string,
  { part, resource, members, object, counts }: Scaled,
  actors: readonly string[] = ["scaler"],
): Scenario {
  const play = async (cluster: TestCluster, user: VmUser): Promise<void> => {
    const kindOf = async (): Promise<number> =>
      (await user.all(members)).filter(({ metadata }) => metadata.name !== "other").length;
    const settled = async (count: number): Promise<void> => {
      await cluster.settle({ quiet });
      const running = cluster.launchers().filter(({ isRunning }) => isRunning);
      expect([await kindOf(), running.length]).toEqual([count, count]);
    };
    await user.client.create(resources.vms, {
      ...vmOf("other", "Halted"),
      metadata: { namespace: "default", name: "other", labels },
    });
    await user.client.create(resource, object);
    for (const replicas of counts) {
      await user.patch({ spec: { replicas } }, resource, "web");
      await settled(replicas);
      const status = Object(await user.find(resource, "web")).status;
      expect([status.replicas, status.readyReplicas]).toEqual([replicas, replicas]);
    }
    await user.remove(resource, "web");
    await settled(0);
    expect(await user.find(resources.vms, "other")).toBeDefined();
  };
  return {
    name,
    cluster: vmClusterOptions(),
    actors: Object.fromEntries(actors.map((actor) => [actor, controllerActor([part])])),
    invariants,
    play: async (cluster) => {
      const over = new AbortController();
      const { clock, random } = cluster;
      const context = { client: cluster.client("others"), clock, random: random.fork() };
      const wall = () => cluster.dates.of("others");
      const running = others({ ...context, wall, signal: over.signal });
      try {
        await play(cluster, new VmUser(cluster));
      } finally {
        over.abort();
        await running;
      }
    },
  };
}

/**
 * The kinds of perturbation repeat every 2 and every 4, so each share has some of every kind. 23
 * seeds cover all.
 */
const every = 23;

describe("scales up and down under crashes, lost answers, late writes, lagging views and missed events", () => {
  test.each(Object.keys(scaled))("%s", async (name) => {
    const story = scenario(name, scaled[name] as Scaled);
    for (const seed of rotatingSeeds(`one of ${every} shares of: ${name} that is scaled`, 1)) {
      const report = await perturbScenario(story, { share: { every, seed } });
      expect(perturbationReportText(report)).toBe(
        `${name}: ${report.runs} perturbations, 0 found something`,
      );
      expect(report.runs).toBeGreaterThan(1);
    }
  });
});

describe("two controllers, node partitions and clock jumps: as many as wanted in the end", () => {
  test.each(Object.keys(scaled))("%s", async (name) => {
    const title = `two controllers of ${name}`;
    const seeds = rotatingSeeds(title, 2);
    const story = scenario(title, scaled[name] as Scaled, ["first", "second"]);
    const report = await shakeScenario(story, { seeds });
    expect(shakeReportText(report)).toBe(`${title}: ${seeds.length} seeds, 0 found something`);
  });
});
