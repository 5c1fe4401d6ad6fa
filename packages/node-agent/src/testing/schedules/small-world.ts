import { type ClusterConfig, clusterConfig } from "@virtkit/api/config";
import { decodeGrant, grantAnnotation, type ReadGrant } from "@virtkit/api/grant";
import { names as namesOf } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { at, entry, text } from "@virtkit/api/shape";
import type { KubeObject } from "@virtkit/kube";
import { virtkitLauncherProfile } from "@virtkit/launcher-pod";
import { MigrationWires } from "@virtkit/testing/hypervisor";
import type { GuestRecord } from "../../service/guest-record.ts";
import { AgentDisk } from "./agent-disk.ts";
import { AgentProcess, addressOf } from "./agent-process.ts";
import { ControllerProcess } from "./controller-process.ts";
import { Life } from "./life.ts";
import { Promises } from "./promises.ts";
import { Requests } from "./requests.ts";
import { reviewAgent } from "./review-agent.ts";
import { ScheduleClock } from "./schedule-clock.ts";
import { smallClient } from "./small-client.ts";
import { SmallLauncher } from "./small-launcher.ts";
import { SmallStore, type StoreContent } from "./small-store.ts";

const names = namesOf();
const cluster: ClusterConfig = clusterConfig({ developerConfiguration: { useEmulation: true } });
const config = { cluster, profile: virtkitLauncherProfile({ image: "launcher:1" }) };
/** Milliseconds since 1970 when every schedule begins. */
const epoch = Date.UTC(2026, 0, 1);

/** The nodes; processes are named after them, too. */
export const nodeNames = ["node-a", "node-b"] as const;
/** One of {@link nodeNames}. */
export type NodeName = (typeof nodeNames)[number];

/** A node: its power, its boots, its agent's disk. */
export interface SmallNode {
  readonly name: NodeName;
  isOn: boolean;
  boot: number;
  /** The boot that its Node object reports. */
  reportedBoot: number;
  readonly disk: AgentDisk;
  agent: AgentProcess | undefined;
}

/** What a world begins with: a running guest, and maybe a launcher that will receive it. */
export interface WorldStart {
  readonly store: StoreContent;
  readonly launchers: readonly {
    readonly podName: string;
    readonly pid: number;
    readonly isRunning: boolean;
  }[];
  readonly records: Readonly<Record<NodeName, readonly GuestRecord[]>>;
}

/** An end of the path that an agent has opened for a migration. */
interface OpenWay {
  readonly end: "in" | "out";
  readonly node: string;
  readonly port: number;
  readonly life: Life;
}

/** How a world differs from the usual one. */
export interface SmallWorldOptions {
  readonly seed?: number;
  readonly start?: WorldStart;
  readonly ignoresConditions?: boolean;
  /** Whether a target whose link breaks continues by itself: a naive handover, for the control. */
  readonly isImpatient?: boolean;
}

/**
 * Two nodes, one guest, and the whole control plane in one process, in which nothing happens by itself: the possible next
 * steps are listed, and the schedule chooses one.
 */
export class SmallWorld {
  readonly clock = new ScheduleClock();
  readonly requests = new Requests();
  readonly store: SmallStore;
  readonly wires: MigrationWires;
  readonly launchers: SmallLauncher[] = [];
  readonly nodes: readonly SmallNode[];
  readonly promises: Promises;
  readonly controllers = new Map<string, ControllerProcess>();
  /** Processes and nodes that do not reach the API server. */
  readonly cut = new Set<string>();
  /** Processes whose watches report nothing. */
  readonly blind = new Set<string>();
  isPeerCut = false;
  readonly #seed: number;
  readonly #isImpatient: boolean;
  #ways: OpenWay[] = [];
  #ports = 4_000;
  #pids = 100;
  #grant: { readonly of: KubeObject; readonly grant: ReadGrant } | undefined;

  constructor({
    seed = 0,
    start,
    ignoresConditions = false,
    isImpatient = false,
  }: SmallWorldOptions = {}) {
    this.#seed = seed;
    this.#isImpatient = isImpatient;
    this.promises = new Promises(this);
    this.store = new SmallStore({
      ...(start ? { content: start.store } : {}),
      date: () => this.#date(),
      admit: (plural, object) =>
        plural === "virtualmachineinstancemigrations" ? admitted(object) : object,
      review: (change) => reviewAgent(change, (why) => this.promises.refused(why)),
      onChange: (change) => this.promises.changed(change),
      ignoresConditions,
    });
    this.wires = new MigrationWires({
      ...{ clock: this.clock, bandwidth: 2 ** 24 },
      isCut: (one, other) => this.isPeerCut || !this.#isOpen(one, other),
    });
    this.nodes = nodeNames.map((name) => ({
      ...{ name, isOn: true, boot: 1, reportedBoot: 1 },
      ...{ disk: new AgentDisk(start?.records[name]), agent: undefined },
    }));
    if (!start) for (const node of this.nodes) this.#createNode(node);
    for (const launcher of start?.launchers ?? []) this.#seat(launcher);
    for (const { name } of this.nodes) this.startAgent(name);
    this.startController("controller-1");
  }

  wall(): Date {
    return new Date(epoch + this.clock.now());
  }

  #date(): string {
    return `${this.wall().toISOString().slice(0, 19)}Z`;
  }

  get vmi(): (VirtualMachineInstance & KubeObject) | undefined {
    const found = this.store.find("virtualmachineinstances", "demo");
    return found as (VirtualMachineInstance & KubeObject) | undefined;
  }

  /** The run grant as the API server has it. */
  get grant(): ReadGrant | undefined {
    const { vmi } = this;
    if (!vmi) return undefined;
    if (this.#grant?.of !== vmi) {
      const value = entry(vmi.metadata.annotations, names.own(grantAnnotation));
      this.#grant = { of: vmi, grant: decodeGrant(value, text(vmi.metadata.uid)) };
    }
    return this.#grant.grant;
  }

  node(name: string): SmallNode {
    const found = this.nodes.find((each) => each.name === name);
    if (!found) throw new Error(`there is no node ${name}`);
    return found;
  }

  /** Processes that run now. */
  get processes(): readonly (AgentProcess | ControllerProcess)[] {
    const agents = this.nodes.flatMap(({ agent }) => (agent ? [agent] : []));
    return [...this.controllers.values(), ...agents];
  }

  /** Whether a process reaches the API server. */
  isConnected({ owner }: Life): boolean {
    return !this.cut.has(owner.replace("agent of ", ""));
  }

  startController(name: string): void {
    const life = new Life(name);
    const client = smallClient(this.store, this.requests, life);
    const clock = this.clock.of(life);
    const { store } = this;
    const wall = () => this.wall();
    this.controllers.set(name, new ControllerProcess({ life, store, client, clock, wall, config }));
  }

  stopController(name: string): void {
    const found = this.controllers.get(name);
    if (found) this.#end(found.life);
    this.controllers.delete(name);
  }

  startAgent(name: NodeName): void {
    const node = this.node(name);
    const life = new Life(`agent of ${name}`);
    const { store, requests, clock } = this;
    node.agent = new AgentProcess({
      ...{ life, node: name, store, requests, disk: node.disk, config: cluster },
      client: smallClient(store, requests, life),
      clock: clock.of(life),
      wall: () => this.wall(),
      identity: { machineID: `machine-${name}`, bootID: bootOf(node) },
      host: this.#host(name, life),
      seed: this.#seed * 31 + clock.now() + name.length,
    });
  }

  stopAgent(name: NodeName): void {
    const node = this.node(name);
    if (!node.agent) return;
    const { life } = node.agent;
    this.#end(life);
    node.agent = undefined;
    const open = this.#ways.filter((way) => way.life === life);
    this.#ways = this.#ways.filter((way) => way.life !== life);
    if (open.length > 0) this.breakStreams();
  }

  #end(life: Life): void {
    life.isOver = true;
    this.requests.drop(life);
  }

  /** A node loses power: everything on it is gone. */
  cutPower(name: NodeName): void {
    const node = this.node(name);
    node.isOn = false;
    this.stopAgent(name);
    for (const launcher of this.launchers) if (launcher.node === name) launcher.die();
    this.breakStreams();
  }

  /** Its power is back, in another boot. */
  restorePower(name: NodeName): void {
    const node = this.node(name);
    if (node.isOn) return;
    node.isOn = true;
    node.boot++;
    this.startAgent(name);
  }

  /** The path that carries memory between the nodes breaks. */
  breakStreams(): void {
    this.wires.breakStreams();
    if (!this.#isImpatient) return;
    for (const { guest, capturedAt, isActive, isRunning } of this.launchers) {
      if (isActive && !isRunning && Number.isFinite(capturedAt)) guest.domain.resume();
    }
  }

  /** The kubelet starts the launcher of a Pod. */
  startLauncher(pod: KubeObject): SmallLauncher {
    const name = text(at(pod, "spec", "nodeName"));
    const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller);
    const launcher = new SmallLauncher({
      ...{ node: name, bootID: bootOf(this.node(name)), pid: this.#pids++ },
      ...{ podName: text(pod.metadata.name), podUid: text(pod.metadata.uid) },
      ...{ vmiUid: text(owner?.uid), clock: this.clock, wires: this.wires },
      watch: this.promises,
    });
    this.launchers.push(launcher);
    return launcher;
  }

  #seat({ podName, pid, isRunning }: WorldStart["launchers"][number]): void {
    this.#pids = pid;
    const launcher = this.startLauncher(this.store.get("pods", podName));
    if (isRunning && this.vmi) launcher.seat(this.vmi);
  }

  #createNode(node: SmallNode): void {
    const { nodeLabels } = names;
    this.store.create("kubelet", "nodes", {
      ...{ apiVersion: "v1", kind: "Node" },
      metadata: {
        name: node.name,
        labels: {
          [nodeLabels.schedulable]: "true",
          [`${nodeLabels.hostModelCpu}Skylake`]: "true",
          [`${nodeLabels.cpuModelMigration}Skylake`]: "true",
        },
      },
      status: nodeStatus(node),
    } as KubeObject);
  }

  /** Whether both ends of a path between two nodes are open. */
  #isOpen(one: string, other: string): boolean {
    const isThere = (end: OpenWay["end"], node: string): boolean =>
      this.#ways.some((way) => way.end === end && way.node === node);
    return (
      (isThere("in", one) && isThere("out", other)) || (isThere("in", other) && isThere("out", one))
    );
  }

  #host(node: string, life: Life): NodeHost {
    const own = (): readonly SmallLauncher[] =>
      this.launchers.filter((launcher) => launcher.node === node);
    return {
      find: ({ containerID }) => {
        const found = own().find(({ container }) => container.containerID === containerID);
        return found && !found.hasEnded ? this.#found(found, life) : undefined;
      },
      hasEnded: ({ pid }) =>
        own().every(({ process, hasEnded }) => process.pid !== pid || hasEnded),
      cleanUp: async () => {},
    };
  }

  #found(launcher: SmallLauncher, life: Life): FoundLauncher {
    const nothing = async (): Promise<void> => {};
    return {
      process: launcher.process,
      selinuxContext: "none",
      hasEnded: () => launcher.hasEnded,
      connect: async () => launcher.connect(life),
      prepare: async (vmi) => ({ vmi, context: {} }) as never,
      ...{ fileSizes: () => ({}), pluggedVolumes: () => [], interruptedVolumes: () => [] },
      ...{ plugVolume: nothing, unplugVolume: nothing },
      openWayIn: async ({ address }) => {
        const way = this.#open("in", launcher.node, life);
        const ports = { [way.port]: 0, [way.port + 10_000]: 49_152 };
        return { sockets, listener: { address, ports }, ...this.#closing(way) };
      },
      openWayOut: async ({ target, migrationUID }) => {
        const isThere = this.#ways.some(
          ({ end, node, port }) =>
            end === "in" && addressOf(node) === target.address && String(port) in target.ports,
        );
        if (!isThere || this.isPeerCut) throw new Error("nobody listens");
        const way = this.#open("out", launcher.node, life);
        const isReady = async (): Promise<boolean> =>
          !this.isPeerCut && this.wires.stream(migrationUID) !== undefined;
        return { sockets, target, isReady, ...this.#closing(way) };
      },
      [Symbol.dispose]: () => {},
    };
  }

  #open(end: OpenWay["end"], node: string, life: Life): OpenWay {
    const way = { end, node, life, port: this.#ports++ };
    this.#ways.push(way);
    return way;
  }

  #closing(way: OpenWay): AsyncDisposable {
    return {
      [Symbol.asyncDispose]: async () => {
        const before = this.#ways.length;
        this.#ways = this.#ways.filter((each) => each !== way);
        if (this.#ways.length < before) this.breakStreams();
      },
    };
  }
}

type NodeHost = import("../../service/node-host.ts").NodeHost;
type FoundLauncher = import("../../service/node-host.ts").FoundLauncher;

const sockets = { peer: "peer", serve: "serve", memory: "memory", disks: "disks" };

/** A migration as the webhook admits it. */
function admitted(migration: KubeObject): KubeObject {
  const { latestObservedApiVersion, storageObservedApiVersion } = names.annotations;
  const { annotations, labels } = migration.metadata;
  const seen = { [latestObservedApiVersion]: "v1", [storageObservedApiVersion]: "v1" };
  return {
    ...migration,
    metadata: {
      ...{ ...migration.metadata, finalizers: [names.finalizers.migration] },
      labels: { ...labels, [names.labels.vmiName]: "demo" },
      annotations: { ...annotations, ...seen },
    },
  };
}

/** A boot of a node, as claims name it. */
export function bootOf({ name, boot }: Pick<SmallNode, "boot" | "name">): string {
  return `boot-${name}-${boot}`;
}

/** What a kubelet reports about its node. */
export function nodeStatus(node: Pick<SmallNode, "boot" | "name">): object {
  return {
    nodeInfo: { machineID: `machine-${node.name}`, bootID: bootOf(node) },
    conditions: [{ type: "Ready", status: "True" }],
  };
}
