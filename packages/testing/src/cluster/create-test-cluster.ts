import type { KubeClient } from "@virtkit/kube";
import type { Admission } from "../api-server/admission.ts";
import { InProcessApiServer } from "../api-server/api-server.ts";
import type { Authorizer } from "../api-server/authorizer.ts";
import type { Change } from "../api-server/change-log.ts";
import { collectGarbage } from "../api-server/garbage-collector.ts";
import { sameJson } from "../api-server/json.ts";
import type { AnyObject } from "../api-server/kind.ts";
import type { RecordedWrite } from "../api-server/server-state.ts";
import { ClusterGuests, type GuestsOptions } from "../guests/cluster-guests.ts";
import type { SimulatedLauncher } from "../guests/simulated-launcher.ts";
import type { SimulatedNodeAgent } from "../guests/simulated-node-agent.ts";
import type { MigrationWires } from "../hypervisor/migration/migration-wires.ts";
import type { SimulatedGuest } from "../hypervisor/simulated-guest.ts";
import { SeededRandom } from "../virtual-time/seeded-random.ts";
import { VirtualClock } from "../virtual-time/virtual-clock.ts";
import type { ContainerScripts } from "./container-script.ts";
import { Network } from "./network.ts";
import { NetworkedClient } from "./networked-client.ts";
import { NodeHost } from "./node-host.ts";
import { watchNodes } from "./node-lifecycle.ts";
import { runScheduler } from "./simulated-scheduler.ts";
import { WallClocks } from "./wall-clocks.ts";

/** Options of {@link createTestCluster}. */
export interface TestClusterOptions {
  /** How many nodes, or their names. By default one. */
  readonly nodes?: number | readonly string[];
  readonly admission?: readonly Admission[];
  /** Answers access reviews. By default everybody may do everything. */
  readonly authorizer?: Authorizer;
  /** Objects that are there from the start, as CustomResourceDefinitions. */
  readonly objects?: readonly AnyObject[];
  /** Seed of all randomness. By default 1. */
  readonly seed?: number;
  /** What containers do; by default they start, get ready and stay. */
  readonly containers?: ContainerScripts;
  /**
   * Whether launcher Pods run simulated guests, and each node runs a scripted node agent. The VMI kind is then
   * defined, and nodes have the devices that launcher Pods request.
   */
  readonly guests?: boolean | GuestsOptions;
}

/** A cluster in this process, in virtual time. */
export interface TestCluster extends AsyncDisposable {
  readonly clock: VirtualClock;
  readonly random: SeededRandom;
  readonly server: InProcessApiServer;
  readonly nodes: readonly NodeHost[];
  /** Who can reach whom. */
  readonly network: Network;
  /** What date each part has. */
  readonly dates: WallClocks;
  /**
   * A client for an actor. Its writes are recorded under this name, and the network knows it by this name;
   * `node agent node-1` also belongs to that node.
   */
  client(actor?: string): KubeClient;
  /** Every write, or those of one actor. */
  writes(actor?: string): readonly RecordedWrite[];
  /** The guest of a VMI, by `namespace/name`. Throws if the VMI has no launcher, or without `guests`. */
  guest(vmi: string): SimulatedGuest;
  /** All launchers, or those of one VMI: a VMI may have several, but at most one runs the guest. */
  launchers(vmi?: string): readonly SimulatedLauncher[];
  /** The connections between all launchers: replies can get lost, and streams can break. Throws without `guests`. */
  wires(): MigrationWires;
  /** The agent of a node: it can be stopped and started. Throws without `guests`. */
  agent(node: string): SimulatedNodeAgent;
  /**
   * Lets time pass until nothing has changed for a while, a minute by default; leases and heartbeats do not
   * count. Throws after `within`, an hour of virtual time by default.
   */
  settle(options?: { readonly quiet?: number; readonly within?: number }): Promise<void>;
  /** The cluster does not count as quiet before this time of its clock, because something is still due. */
  stirUntil(time: number): void;
}

/** Starts a cluster: an API server, a scheduler, and kubelets with simulated containers. */
export async function createTestCluster(options: TestClusterOptions = {}): Promise<TestCluster> {
  const { seed = 1, admission = [], objects = [] } = options;
  const random = new SeededRandom(seed);
  const clock = new VirtualClock();
  const server = new InProcessApiServer({
    ...{ clock, random: random.fork(), admission },
    ...(options.authorizer ? { authorizer: options.authorizer } : {}),
  });
  const network = new Network();
  const dates = new WallClocks(() => server.date());
  const ends = new AbortController();
  const stopGarbage = collectGarbage(server, 50);
  let changedAt = 0;
  let stirs = 0;
  const stopLooking = server.log.follow((change) => {
    if (!isHeartbeat(change)) changedAt = Math.max(stirs, clock.now());
  });
  const clientOf = (actor: string, ...parts: readonly string[]): KubeClient =>
    new NetworkedClient({ client: server.client(actor), network, clock, parts: [actor, ...parts] });
  const guests = createGuests(options, {
    ...{ clock, random, network, date: (part) => dates.of(part) },
    client: (actor) => clientOf(actor, actor.slice(actor.lastIndexOf(" ") + 1)),
  });
  const definition = guests?.definition;
  const isDefined = objects.some(({ metadata }) => metadata.name === definition?.metadata.name);
  for (const object of objects) server.seedByKind(object);
  if (definition && !isDefined) server.seedByKind(definition);
  server.seedByKind({ apiVersion: "v1", kind: "Namespace", metadata: { name: "kube-node-lease" } });
  const nodes = nodeNames(options).map((name) => {
    const host: NodeHost = new NodeHost({
      ...{ name, clock, random: random.fork(), scripts: scriptsFor(name, options, guests) },
      client: clientOf(`kubelet ${name}`, name),
      date: () => dates.of(name),
      ...(guests ? { ...guests.node, daemon: guests.on(name, () => host) } : {}),
    });
    return host;
  });
  for (const node of nodes) await node.start();
  void runScheduler({
    client: clientOf("scheduler"),
    ...{ clock, random: random.fork(), signal: ends.signal },
  });
  watchNodes({
    client: clientOf("node lifecycle"),
    ...{ clock, date: () => server.date(), signal: ends.signal },
  });
  return {
    ...{ clock, random, server, nodes, network, dates },
    client(actor = "test") {
      const node = nodes.find(({ name }) => actor.endsWith(` ${name}`));
      return clientOf(actor, ...(node ? [node.name] : []));
    },
    wires: () => needed(guests).wires,
    writes: (actor) =>
      server.writes().filter((write) => actor === undefined || write.actor === actor),
    guest: (vmi) => needed(guests).guest(vmi),
    launchers: (vmi) => guests?.launchers(vmi) ?? [],
    agent(node) {
      const found = needed(guests).agent(node);
      if (found) return found;
      throw new Error(`there is no node ${node}; there are ${nodeNames(options).join(", ")}`);
    },
    async settle({ quiet = 60_000, within = 3_600_000 } = {}) {
      changedAt = Math.max(clock.now(), stirs);
      const end = changedAt + within;
      while (clock.now() - changedAt < quiet) {
        if (clock.now() >= end)
          throw new Error(`the cluster is not quiet after ${within / 1000} s of virtual time`);
        await clock.pass(Math.max(1, changedAt + quiet - clock.now()));
      }
    },
    stirUntil(time) {
      stirs = Math.max(stirs, time);
      changedAt = Math.max(changedAt, stirs);
    },
    async [Symbol.asyncDispose]() {
      ends.abort();
      for (const node of nodes) node.cutPower();
      stopGarbage();
      stopLooking();
      await clock.pass(0);
    },
  };
}

function nodeNames({ nodes = 1 }: TestClusterOptions): readonly string[] {
  return typeof nodes === "number"
    ? Array.from({ length: nodes }, (_, n) => `node-${n + 1}`)
    : nodes;
}

function createGuests(
  { guests }: TestClusterOptions,
  parts: ConstructorParameters<typeof ClusterGuests>[0],
): ClusterGuests | undefined {
  if (!guests) return undefined;
  return new ClusterGuests(parts, guests === true ? {} : guests);
}

/** A script of the test's own comes first: it may let a launcher's image be missing. */
function scriptsFor(
  node: string,
  { containers }: TestClusterOptions,
  guests: ClusterGuests | undefined,
): ContainerScripts {
  return (pod, container) => ({
    ...guests?.script(node, pod, container),
    ...containers?.(pod, container),
  });
}

function needed(guests: ClusterGuests | undefined): ClusterGuests {
  if (guests) return guests;
  throw new Error("this cluster has no guests; create it with { guests: true }");
}

/** Whether a change is of a lease, or of a node of which only its agent's heartbeat has changed. */
export function isHeartbeat({ kind, type, object, previous }: Change): boolean {
  if (kind.startsWith("coordination.k8s.io/")) return true;
  if (kind !== "/nodes" || type !== "MODIFIED" || !previous) return false;
  return sameJson(withoutBeat(object), withoutBeat(previous));
}

/** What is left is shared with the object before where nobody has changed it, and is then compared at once. */
function withoutBeat({ metadata, ...rest }: Change["object"]): unknown {
  const { annotations = {} } = metadata;
  const beats = Object.keys(annotations).filter((key) => key.endsWith("/heartbeat"));
  const without = Object.fromEntries(beats.map((key) => [key, undefined]));
  const none = { resourceVersion: undefined, managedFields: undefined };
  return {
    ...rest,
    metadata: { ...metadata, ...none, annotations: { ...annotations, ...without } },
  };
}
