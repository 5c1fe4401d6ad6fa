import { isAlreadyExists, type KubeObject } from "@virtkit/kube";
import { Cache } from "@virtkit/kube/cache";
import { Reflector } from "@virtkit/kube/reflector";
import { describe, expect, test } from "vitest";
import { perturbationReportText, perturbScenario } from "./perturb-scenario.ts";
import { perturbationText } from "./perturbation.ts";
import type { ActorContext, ActorMain, Scenario } from "./play-scenario.ts";
import { rotatingSeeds } from "./rotating-seeds.ts";
import { shakeReportText, shakeScenario } from "./shake-scenario.ts";
import { configMaps, pods } from "./testing/toy-resources.ts";

/** What a toy controller does when it looks: one Pod for each ConfigMap with the label, none for others. */
type Look = (
  context: ActorContext,
  wanted: readonly KubeObject[],
  there: readonly KubeObject[],
) => Promise<void>;

const objectsOf = <T extends KubeObject>(cache: Cache<T>): readonly T[] => {
  const listing = cache.list();
  return listing.state === "complete" ? listing.objects : [];
};

/** Looks after each change of either kind, one look after the other, and again after a failure. */
function controller(look: Look): ActorMain {
  return async (context) => {
    const { client, clock, random, signal } = context;
    const wanted = new Cache(configMaps);
    const there = new Cache(pods);
    let again = false;
    let busy = false;
    const run = async (): Promise<void> => {
      again = true;
      if (busy || !wanted.hasSynced || !there.hasSynced) return;
      busy = true;
      while (again && !signal.aborted) {
        again = false;
        await look(context, objectsOf(wanted), objectsOf(there)).catch(() => {
          clock.setTimeout(() => void run(), 1000);
        });
      }
      busy = false;
    };
    wanted.subscribe(() => void run());
    there.subscribe(() => void run());
    const follow = async (cache: Cache<KubeObject>, resource: typeof pods) => {
      for await (const event of new Reflector(client, resource, { clock, random, signal })) {
        cache.handle(event);
        if (event.type === "initDone") void run();
      }
    };
    await Promise.all([follow(wanted, configMaps), follow(there, pods)]);
  };
}

const podFor = ({ metadata: { name = "", uid = "" } }: KubeObject) => ({
  metadata: {
    namespace: "default",
    name: `for-${name}-${uid.slice(0, 8)}`,
    labels: { for: uid },
    ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name, uid, controller: true }],
  },
  spec: { containers: [{ name: "main", image: "demo" }] },
});

/** As it should be: names that follow from the owner, so that a second create collides. */
const sound: Look = async ({ client }, wanted, there) => {
  for (const each of wanted) {
    if (there.some(({ metadata }) => metadata.labels?.["for"] === each.metadata.uid)) continue;
    await client.create(pods, podFor(each)).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
  }
};

/** Names by chance: a second create does not collide. */
const byChance: Look = async ({ client, random }, wanted, there) => {
  for (const each of wanted) {
    if (there.some(({ metadata }) => metadata.labels?.["for"] === each.metadata.uid)) continue;
    const pod = podFor(each);
    const name = `for-${random.uuid()}`;
    await client.create(pods, { ...pod, metadata: { ...pod.metadata, name } });
  }
};

/** The user's story: one ConfigMap comes, is replaced by another of the same name, and one Pod is there in the end. */
const scenario = (look: Look): Scenario => ({
  name: "one Pod for each ConfigMap",
  actors: { toy: controller(look) },
  invariants: {
    "at most one Pod for each owner": ({ server }) => {
      const kind = server.kinds.find(({ resource }) => resource.plural === "pods");
      const owners = (kind ? server.table(kind).list() : [])
        .filter(({ metadata }) => !metadata.deletionTimestamp)
        .map(({ metadata }) => metadata.labels?.["for"]);
      const twice = owners.find((owner, index) => owners.indexOf(owner) !== index);
      return twice && `${twice} has two`;
    },
  },
  async play(cluster) {
    const client = cluster.client("user");
    const metadata = { namespace: "default", name: "a" };
    await client.create(configMaps, { metadata });
    await cluster.clock.pass(5000);
    await client.delete(configMaps, metadata);
    await cluster.clock.pass(100);
    await client.create(configMaps, { metadata });
    await cluster.settle();
    const [owner] = (await client.list(configMaps)).items;
    const left = (await client.list(pods)).items.map((pod) => pod.metadata.labels?.["for"]);
    expect(left).toEqual([owner?.metadata.uid]);
  },
});

describe("a controller under every perturbation", () => {
  test("a correct one survives all of them", async () => {
    const report = await perturbScenario(scenario(sound));
    expect(report.runs).toBeGreaterThan(20);
    expect(perturbationReportText(report)).toBe(
      `one Pod for each ConfigMap: ${report.runs} perturbations, 0 found something`,
    );
  });

  test("one that names Pods at random runs two when its view lags or a write takes effect late", async () => {
    const { findings } = await perturbScenario(scenario(byChance));
    const kinds = new Set(findings.map(({ perturbation }) => perturbation.kind));
    expect(kinds).toContain("stale-view");
    // It tries again under another name, and then the first attempt takes effect.
    expect(kinds).toContain("late-write");
    const [first] = findings;
    expect(first?.message).toContain("has two");
    expect(first?.changes.at(-1)).toContain("ADDED pods");
  });

  test("one that needs two writes, and remembers the first in memory, stops between them", async () => {
    const half: Look = async ({ client }, wanted, there) => {
      for (const each of wanted) {
        if (each.metadata.annotations?.["started"]) continue;
        const at = { namespace: "default", name: each.metadata.name ?? "" };
        const body = { metadata: { uid: each.metadata.uid, annotations: { started: "yes" } } };
        await client.patch(configMaps, at, { type: "merge", body });
        await sound({ client } as ActorContext, [each], there);
      }
    };
    const { findings } = await perturbScenario(scenario(half));
    expect(findings.map(({ perturbation }) => perturbation)).toContainEqual(
      expect.objectContaining({ kind: "crash" }),
    );
  });

  test("one that reacts only to events leaves behind what it did not see end", async () => {
    /** Follows the events alone, and takes a new list for nothing but more of them. */
    const edgeTriggered: ActorMain = async ({ client, clock, random, signal }) => {
      for await (const event of new Reflector(client, configMaps, { clock, random, signal })) {
        if (event.type !== "apply" && event.type !== "delete") continue;
        const { metadata, spec } = podFor(event.object);
        const { ownerReferences: _, ...plain } = metadata;
        if (event.type === "apply")
          await client.create(pods, { metadata: plain, spec } as KubeObject).catch(ignore);
        else await client.delete(pods, plain).catch(ignore);
      }
    };
    const story = { ...scenario(sound), actors: { toy: edgeTriggered } };
    const { findings } = await perturbScenario(story);
    const missed = findings.find(({ perturbation }) => perturbation.kind === "unobserved-event");
    if (!missed) throw new Error(`found only ${findings.map(({ message }) => message).join()}`);
    const only = perturbationText(missed.perturbation);
    const again = await perturbScenario(story, { only });
    expect(again).toMatchObject({ runs: 1, findings: [missed] });
    expect(perturbationReportText(again)).toContain(`{ only: "${only}" }`);
  });
});

test("the shares of the perturbations together are all of them", async () => {
  const whole = await perturbScenario(scenario(byChance));
  const shares = await Promise.all(
    [4, 5, 6].map((seed) => perturbScenario(scenario(byChance), { share: { every: 3, seed } })),
  );
  expect(shares.reduce((sum, { runs }) => sum + runs, 0)).toBe(whole.runs);
  const texts = (findings: typeof whole.findings) =>
    findings.map(({ perturbation }) => perturbationText(perturbation)).sort();
  expect(texts(shares.flatMap(({ findings }) => findings))).toEqual(texts(whole.findings));
});

describe("a controller under random faults", () => {
  const seeds = rotatingSeeds("a controller under faults by chance", 40);

  test("a correct one recovers from all of them", async () => {
    const report = await shakeScenario(scenario(sound), { seeds, rate: 0.2 });
    expect(shakeReportText(report)).toBe(
      `one Pod for each ConfigMap: ${seeds.length} seeds, 0 found something`,
    );
  });

  test("one that relies on its own date is caught when the date jumps", async () => {
    /** Ends Pods that have been there for half an hour, which none has. */
    const byDate: Look = async (context, wanted, there) => {
      await sound(context, wanted, there);
      const old = context.wall().getTime() - 1_800_000;
      for (const { metadata } of there) {
        if (Date.parse(metadata.creationTimestamp ?? "") > old || metadata.deletionTimestamp)
          continue;
        const { namespace = "", name = "", labels } = metadata;
        if (wanted.some(({ metadata: { uid } }) => uid === labels?.["for"]))
          await context.client.delete(pods, { namespace, name });
      }
    };
    const story: Scenario = {
      ...scenario(byDate),
      invariants: {
        "nothing is ended before its time": ({ writes }) =>
          writes("toy").some(({ verb }) => verb === "delete") ? "a Pod was deleted" : undefined,
      },
    };
    const { findings } = await shakeScenario(story, { seeds, rate: 0.2 });
    const [first] = findings;
    expect(first?.changes.join()).toContain("the date of toy jumps");
    const again = await shakeScenario(story, { seeds: [first?.seed ?? 0], rate: 0.2 });
    expect(again.findings).toEqual([first]);
  });

  test("one that names Pods at random is caught, and its seed replays the run", async () => {
    const { findings } = await shakeScenario(scenario(byChance), { seeds, rate: 0.2 });
    const [first] = findings;
    if (!first) throw new Error("nothing was found");
    const again = await shakeScenario(scenario(byChance), { seeds: [first.seed], rate: 0.2 });
    expect(again.findings).toEqual([first]);
    expect(shakeReportText(again)).toContain(`{ seeds: [${first.seed}] }`);
  });
});

/** The planted controller gives up on every error. */
function ignore(): void {}
