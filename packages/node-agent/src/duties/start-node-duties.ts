import { type Clock, realClock, sleep, until, wallTime } from "@virtkit/api/clock";
import type { ClusterConfig } from "@virtkit/api/config";
import { describeError, type Observers } from "@virtkit/api/observe";
import { type Random, realRandom } from "@virtkit/api/random";
import { defineResource, type KubeClient, type KubeObject } from "@virtkit/kube";
import { EventRecorder } from "@virtkit/kube/writes";
import { hostRoot } from "../host-root.ts";
import { isCpuManagerStatic, planHeartbeat } from "./heartbeat.ts";
import { planKsm } from "./ksm.ts";
import type { NodeCapabilities } from "./node-capabilities.ts";
import { NodeFiles } from "./node-files.ts";
import { nodeLabelsFor, planLabels } from "./node-labels.ts";

/** What {@link startNodeDuties} works with. */
export interface NodeDutiesOptions extends Observers {
  readonly client: Pick<KubeClient, "get" | "patch" | "create">;
  readonly nodeName: string;
  /** The current configuration. */
  readonly config: () => ClusterConfig;
  /** Whether the kubelet knows all device plug-ins. */
  readonly devicesReady: () => boolean;
  /** What the node's hypervisor can do; if it is undefined, no such label is touched. */
  readonly capabilities: () => NodeCapabilities | undefined;
  /** As Go names it: `amd64`. */
  readonly architecture: string;
  /** Default: those of the node's first process; an agent in a Pod shares its processes, and has files of its own. */
  readonly files?: NodeFiles;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly wall?: () => Date;
}

/** A node agent's duties for its node. Disposal ends them and marks the node unschedulable. */
export type NodeDuties = AsyncDisposable & {
  /** Sends a heartbeat now: call it when device plug-ins become ready, or stop being ready. Never rejects. */
  beat(): Promise<void>;
  /** Updates the labels now: call it when the configuration has changed. Never rejects. */
  label(): Promise<void>;
};

/** Milliseconds; KubeVirt's. Each wait is up to 2.2 times as long, so that nodes do not all write at once. */
const intervals = { heartbeat: 60_000, labels: 180_000, ksm: 180_000 };
/** Milliseconds after a failed duty: the API server, or one of its webhooks, may not be up yet. */
const retryInterval = 2_000;
const jitter = 1.2;
/** How long a start waits for device plug-ins before the usual round begins. */
const devicePatience = { interval: 1_000, timeout: 10_000 };
const requestTimeout = 10_000;
/** Attempts to mark the node unschedulable at the end. */
const lastTries = 5;

const nodes = defineResource<KubeObject>({
  group: "",
  version: "v1",
  plural: "nodes",
  kind: "Node",
  namespaced: false,
});

/**
 * Keeps the Node object up to date: heartbeat and boot, schedulable or not (not at the start, not at the end,
 * and not while a device plug-in is missing), what guests can run here, and KSM. Writes only its own fields,
 * and labels only if they differ. Returns at once.
 *
 * @example
 * await using duties = startNodeDuties({
 *   client,
 *   nodeName: "node-1",
 *   architecture: "amd64",
 *   config: () => config,
 *   devicesReady: () => true,
 *   capabilities: () => undefined,
 * });
 */
export function startNodeDuties(options: NodeDutiesOptions): NodeDuties {
  const duties = new RunningDuties(options);
  duties.start();
  return duties;
}

class RunningDuties implements NodeDuties {
  readonly #options: NodeDutiesOptions;
  readonly #clock: Clock;
  readonly #files: NodeFiles;
  readonly #events: EventRecorder;
  readonly #stop = new AbortController();
  readonly #loops: Promise<void>[] = [];
  #started = false;
  /** One write after the other: an older heartbeat must not come last. */
  #writes: Promise<void> = Promise.resolve();

  constructor(options: NodeDutiesOptions) {
    this.#options = options;
    this.#clock = options.clock ?? realClock;
    this.#files = options.files ?? new NodeFiles(hostRoot);
    const { client, nodeName: host, clock, random, wall, log, metrics } = options;
    this.#events = new EventRecorder({
      ...{ client, host, component: "virt-handler", clock, random, wall },
      ...(log && { log }),
      ...(metrics && { metrics }),
    });
  }

  start(): void {
    this.#loops.push(this.#beatAgainAndAgain());
    this.#loops.push(this.#repeat(intervals.labels, () => this.#labelOnce()));
    this.#loops.push(this.#repeat(intervals.ksm, () => this.#mergePages()));
  }

  async beat(): Promise<void> {
    await this.#beatOnce();
  }

  async label(): Promise<void> {
    await this.#labelOnce();
  }

  #beatOnce(): Promise<boolean> {
    const { devicesReady } = this.#options;
    return this.#told("heartbeat", () => this.#heartbeat(this.#started && devicesReady()));
  }

  #labelOnce(): Promise<boolean> {
    return this.#told("labels", () => this.#compareLabels());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#stop.signal.aborted) return;
    this.#stop.abort();
    await Promise.all(this.#loops);
    await this.#writes;
    await this.#events.close();
    for (let attempt = 0; attempt < lastTries; attempt++) {
      try {
        await this.#heartbeat(false);
        return;
      } catch (error) {
        this.#warn(error, "the node was not marked unschedulable");
        await sleep(this.#clock, 100 * 2 ** attempt);
      }
    }
  }

  async #beatAgainAndAgain(): Promise<void> {
    const { signal } = this.#stop;
    // Before anything else: the kubelet would reject what is scheduled here meanwhile.
    await this.beat();
    const { devicesReady } = this.#options;
    const isReady = async (): Promise<true | undefined> => devicesReady() || undefined;
    // Ended, or not ready in time: the next heartbeat says so.
    await until(isReady, { clock: this.#clock, signal, ...devicePatience }).catch(() => {});
    this.#started = true;
    await this.#repeat(intervals.heartbeat, () => this.#beatOnce());
  }

  async #repeat(interval: number, duty: () => Promise<boolean>): Promise<void> {
    const { signal } = this.#stop;
    const { random = realRandom } = this.#options;
    while (!signal.aborted) {
      // A failed duty is retried sooner: without its labels, a node gets no guests.
      const pause = (await duty()) ? interval : Math.min(interval, retryInterval);
      await sleep(this.#clock, pause * (1 + random.number() * jitter), signal);
    }
  }

  async #heartbeat(schedulable: boolean): Promise<void> {
    const { config, wall = wallTime } = this.#options;
    const current = config();
    const cpuManager =
      current.gate("CPUManager") &&
      isCpuManagerStatic(this.#files.cpuManagerState(current.names.directories.kubelet));
    const facts = { schedulable, cpuManager, now: wall(), bootId: this.#files.bootId() };
    await this.#patch(planHeartbeat(facts, current));
  }

  async #compareLabels(): Promise<void> {
    const { architecture, config } = this.#options;
    const capabilities = this.#options.capabilities();
    if (!capabilities) return;
    const current = config();
    const node = await this.#node();
    if (Object.hasOwn(node.metadata.annotations ?? {}, current.names.annotations.skipNodeLabels)) {
      return;
    }
    const hyperv = this.#files.hypervFeatures();
    const facts = { architecture, hyperv, realtime: this.#files.isRealtime() };
    const wanted = nodeLabelsFor(capabilities, facts, current);
    if (Object.hasOwn(wanted, current.names.nodeLabels.obsoleteHostModel)) {
      const message = `the CPU model of this host, ${capabilities.hostModel?.name}, is obsolete`;
      this.#events.record(nodes, node, { type: "Warning", reason: "HostModelIsObsolete", message });
    }
    const labels = planLabels(node.metadata.labels ?? {}, wanted, current.names);
    if (Object.keys(labels).length > 0) await this.#patch({ metadata: { labels } });
  }

  #mergePages(): Promise<boolean> {
    return this.#told("ksm", async () => {
      const { config } = this.#options;
      const { names, ksm } = config();
      const { metadata } = await this.#node();
      const { settings, eligible, managed } = planKsm(this.#files.ksmFacts(), metadata, {
        names,
        ksm,
      });
      if (settings) this.#files.setKsm(settings);
      const labels = { [names.nodeLabels.ksmEnabled]: String(eligible) };
      const annotations = { [names.annotations.ksmHandlerManaged]: String(managed) };
      if (isIn(labels, metadata.labels) && isIn(annotations, metadata.annotations)) return;
      await this.#patch({ metadata: { labels, annotations } });
    });
  }

  async #node(): Promise<KubeObject> {
    const { client, nodeName } = this.#options;
    return await client.get(nodes, { name: nodeName }, { timeout: requestTimeout });
  }

  async #patch(body: object): Promise<void> {
    const { client, nodeName } = this.#options;
    const patch = { type: "merge", body } as const;
    await client.patch(nodes, { name: nodeName }, patch, { timeout: requestTimeout });
  }

  /** After the writes before it; a failure is logged, and retried in the next round. */
  #told(duty: string, run: () => Promise<void>): Promise<boolean> {
    const done = this.#writes.then(async () => {
      if (this.#stop.signal.aborted) return true;
      try {
        await run();
        this.#options.metrics?.count("node_duties", { duty, outcome: "done" });
        return true;
      } catch (error) {
        this.#options.metrics?.count("node_duties", { duty, outcome: "failed" });
        this.#warn(error, `${duty}: the Node object was not written`);
        return false;
      }
    });
    this.#writes = done.then(() => {});
    return done;
  }

  #warn(error: unknown, what: string): void {
    const { log, nodeName } = this.#options;
    log?.warn({ node: nodeName, error: describeError(error) }, what);
  }
}

function isIn(
  wanted: Readonly<Record<string, string>>,
  current: Readonly<Record<string, string>> = {},
): boolean {
  return Object.entries(wanted).every(([key, value]) => current[key] === value);
}
