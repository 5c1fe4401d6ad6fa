import { createHash } from "node:crypto";
import type { Clock } from "@virtkit/api/clock";
import type { Random } from "@virtkit/api/random";
import type { KubeClient } from "@virtkit/kube";
import type { Change } from "../api-server/change-log.ts";
import {
  createTestCluster,
  isHeartbeat,
  type TestCluster,
  type TestClusterOptions,
} from "../cluster/create-test-cluster.ts";
import type { Disturbance } from "./disturbance.ts";
import { type ActorCounts, DisturbedClient } from "./disturbed-client.ts";

/** What an actor receives: everything that it needs, and nothing that the scenario does not control. */
export interface ActorContext {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  /** What date it is, as this actor has it. */
  readonly wall: () => Date;
  /** Aborted when the actor crashes or the scenario is over. */
  readonly signal: AbortSignal;
}

/** A controller in a scenario; it runs until its signal is aborted. */
export type ActorMain = (context: ActorContext) => Promise<void>;

/** An actor that belongs to a node and shares its launchers and its power supply. */
export type NodeActorMain = (context: ActorContext, cluster: TestCluster) => Promise<void>;

/** A sequence of actions that is played once undisturbed, and once for each perturbation of its actors. */
export interface Scenario {
  readonly name: string;
  readonly cluster?: TestClusterOptions;
  /** The actors that are disturbed, by name. */
  readonly actors: Readonly<Record<string, NodeActorMain>>;
  /** What users do, and what must be true in the end: throws if it is not. */
  readonly play: (cluster: TestCluster) => Promise<void>;
  /** Checks what must hold after each change; returns a sentence that says what is wrong. */
  readonly invariants?: Readonly<Record<string, (cluster: TestCluster) => string | undefined>>;
}

/** What came of one play of a scenario. */
export interface Played {
  readonly counts: Readonly<Record<string, Readonly<ActorCounts>>>;
  /** A digest of all that happened, in its order and at its time: two plays that differ anywhere have two. */
  readonly schedule: string;
  /** What was wrong, and the last changes before it, at most thirty. */
  readonly failure?: { readonly message: string; readonly changes: readonly string[] };
}

/** Plays a scenario once, with a disturbance for each actor, and with further faults. */
export async function playScenario(
  scenario: Scenario,
  disturbanceFor: (actor: string, cluster: TestCluster) => Disturbance,
  options: TestClusterOptions = {},
  disturb: (cluster: TestCluster, note: (line: string) => void) => void = () => {},
): Promise<Played> {
  await using cluster = await createTestCluster({ ...scenario.cluster, ...options });
  const changes: string[] = [];
  const schedule = createHash("sha256");
  let broken: string | undefined;
  const note = (line: string): void => {
    if (broken !== undefined) return;
    const text = `${(cluster.clock.now() / 1000).toFixed(3)} s  ${line}`;
    schedule.update(text);
    changes.push(text);
    if (changes.length > 30) changes.shift();
  };
  const stopLooking = cluster.server.log.follow((change) => {
    if (broken !== undefined) return;
    // Heartbeats would push all else out of the list.
    if (!isHeartbeat(change)) note(changeText(change));
    broken = brokenInvariant(scenario, cluster);
  });
  const over = new AbortController();
  const counts: Record<string, ActorCounts> = {};
  for (const [actor, main] of Object.entries(scenario.actors)) {
    counts[actor] = { writes: 0, events: 0 };
    const disturbance = disturbanceFor(actor, cluster);
    startActor({ cluster, actor, main, over: over.signal, counts: counts[actor], disturbance });
  }
  disturb(cluster, note);
  try {
    await scenario.play(cluster);
  } catch (error) {
    broken ??= error instanceof Error ? error.message : String(error);
  } finally {
    stopLooking();
    over.abort();
    await cluster.clock.pass(0);
  }
  const played = { counts, schedule: schedule.digest("base64") };
  return broken === undefined ? played : { ...played, failure: { message: broken, changes } };
}

interface ActorStart {
  readonly cluster: TestCluster;
  readonly actor: string;
  readonly main: NodeActorMain;
  readonly over: AbortSignal;
  readonly counts: ActorCounts;
  readonly disturbance: Disturbance;
}

/** Starts an actor; after a crash it starts over a second later, without any memory. */
function startActor(start: ActorStart): void {
  const { cluster, actor, main, over, counts, disturbance } = start;
  const { clock } = cluster;
  const life = new AbortController();
  const end = () => life.abort();
  over.addEventListener("abort", end, { once: true });
  const crash = () => {
    over.removeEventListener("abort", end);
    life.abort();
    clock.setTimeout(() => {
      if (!over.aborted) startActor(start);
    }, 1000);
  };
  const client = new DisturbedClient({
    ...{ clock, counts, disturbance, crash, life: life.signal },
    client: cluster.client(actor),
  });
  const random = cluster.random.fork();
  const wall = () => cluster.dates.of(actor);
  main({ client, clock, random, wall, signal: life.signal }, cluster).catch(() => {
    // An actor that throws is a process that ends: its supervisor starts it again.
    if (!life.signal.aborted && !over.aborted) crash();
  });
}

function brokenInvariant(scenario: Scenario, cluster: TestCluster): string | undefined {
  for (const [name, check] of Object.entries(scenario.invariants ?? {})) {
    const problem = check(cluster);
    if (problem !== undefined) return `${name}: ${problem}`;
  }
  return undefined;
}

function changeText({ type, kind, object }: Change): string {
  const { namespace, name, resourceVersion } = object.metadata;
  const phase = Object(Object(object).status).phase;
  const where = namespace ? `${namespace}/${name}` : name;
  return `${type} ${kind.replace(/^\//, "")} ${where} @${resourceVersion}${phase ? ` ${phase}` : ""}`;
}
