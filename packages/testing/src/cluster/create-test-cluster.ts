import type { KubeClient } from "@virtkit/kube";
import type { Admission } from "../api-server/admission.ts";
import { InProcessApiServer } from "../api-server/api-server.ts";
import { collectGarbage } from "../api-server/garbage-collector.ts";
import type { AnyObject } from "../api-server/kind.ts";
import type { RecordedWrite } from "../api-server/server-state.ts";
import { SeededRandom } from "../virtual-time/seeded-random.ts";
import { VirtualClock } from "../virtual-time/virtual-clock.ts";
import type { ContainerScripts } from "./container-script.ts";
import { NodeHost } from "./node-host.ts";
import { watchNodes } from "./node-lifecycle.ts";
import { runScheduler } from "./simulated-scheduler.ts";

/** Options of {@link createTestCluster}. */
export interface TestClusterOptions {
  /** How many nodes, or their names. By default one. */
  readonly nodes?: number | readonly string[];
  readonly admission?: readonly Admission[];
  /** Objects that are there from the start, as CustomResourceDefinitions. */
  readonly objects?: readonly AnyObject[];
  /** Fixes all chance. By default 1. */
  readonly seed?: number;
  /** What containers do; by default they start, get ready and stay. */
  readonly containers?: ContainerScripts;
}

/** A cluster in this process, in virtual time. */
export interface TestCluster extends AsyncDisposable {
  readonly clock: VirtualClock;
  readonly random: SeededRandom;
  readonly server: InProcessApiServer;
  readonly nodes: readonly NodeHost[];
  /** A client under whose name writes are recorded. */
  client(actor?: string): KubeClient;
  /** Every write, or those of one actor. */
  writes(actor?: string): readonly RecordedWrite[];
  /**
   * Lets time pass until nothing has changed for a while, a minute by default; leases and heartbeats do not
   * count. Throws after `within`, an hour of virtual time by default.
   */
  settle(options?: { readonly quiet?: number; readonly within?: number }): Promise<void>;
}

/** Starts a cluster: an API server, a scheduler, and kubelets with simulated containers. */
export async function createTestCluster(options: TestClusterOptions = {}): Promise<TestCluster> {
  const { seed = 1, admission = [], objects = [], containers = () => ({}) } = options;
  const random = new SeededRandom(seed);
  const clock = new VirtualClock();
  const server = new InProcessApiServer({ clock, random: random.fork(), admission });
  const ends = new AbortController();
  const stopGarbage = collectGarbage(server, 50);
  let changedAt = 0;
  const stopLooking = server.log.follow(({ kind }) => {
    if (!kind.startsWith("coordination.k8s.io/")) changedAt = clock.now();
  });
  for (const object of objects) server.seedByKind(object);
  server.seedByKind({ apiVersion: "v1", kind: "Namespace", metadata: { name: "kube-node-lease" } });
  const { nodes: wanted = 1 } = options;
  const names =
    typeof wanted === "number" ? Array.from({ length: wanted }, (_, n) => `node-${n + 1}`) : wanted;
  const nodes = names.map(
    (name) =>
      new NodeHost({
        ...{ name, clock, random: random.fork(), scripts: containers },
        client: server.client(`kubelet ${name}`),
        date: () => server.date(),
      }),
  );
  for (const node of nodes) await node.start();
  void runScheduler({
    client: server.client("scheduler"),
    ...{ clock, random: random.fork(), signal: ends.signal },
  });
  watchNodes({
    client: server.client("node lifecycle"),
    ...{ clock, date: () => server.date(), signal: ends.signal },
  });
  return {
    ...{ clock, random, server, nodes },
    client: (actor = "test") => server.client(actor),
    writes: (actor) =>
      server.writes().filter((write) => actor === undefined || write.actor === actor),
    async settle({ quiet = 60_000, within = 3_600_000 } = {}) {
      changedAt = clock.now();
      const end = clock.now() + within;
      while (clock.now() - changedAt < quiet) {
        if (clock.now() >= end)
          throw new Error(`the cluster is not quiet after ${within / 1000} s of virtual time`);
        await clock.pass(Math.max(1, changedAt + quiet - clock.now()));
      }
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
