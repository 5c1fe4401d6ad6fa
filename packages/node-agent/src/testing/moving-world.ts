import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ClusterConfig, clusterConfig } from "@virtkit/api/config";
import { crds } from "@virtkit/api/crd";
import {
  decide,
  decodeGrant,
  encodeGrant,
  type Grant,
  grantAnnotation,
  type ReadGrant,
  readTargetHolder,
  targetHolderAnnotation,
} from "@virtkit/api/grant";
import { names as namesOf } from "@virtkit/api/names";
import type {
  KubeVirtConfiguration,
  VirtualMachineInstance,
  VirtualMachineInstanceMigrationState,
} from "@virtkit/api/schema";
import { entry, text } from "@virtkit/api/shape";
import type { SyncRequest } from "@virtkit/domain-manager";
import type { KubeObject } from "@virtkit/kube";
import { LauncherError } from "@virtkit/launcher/client";
import { InProcessApiServer } from "@virtkit/testing/api-server";
import { MigrationWires, SimulatedGuest, SimulatedMigrations } from "@virtkit/testing/hypervisor";
import { SeededRandom, VirtualClock } from "@virtkit/testing/virtual-time";
import { NodeAgentError } from "../node-agent-error.ts";
import { createNodeAgent, type NodeAgent } from "../service/create-node-agent.ts";
import { podResource } from "../service/launcher-pods.ts";
import type { FoundLauncher, NodeHost } from "../service/node-host.ts";
import { nodeResource } from "../service/own-node.ts";
import type { SeamHook } from "../service/seams.ts";
import { vmiResource, WorldLauncher } from "./agent-world.ts";
import { withVerbs } from "./with-verbs.ts";

const names = namesOf();
const place = { namespace: "default", name: "demo" };

/** The nodes of a {@link MovingWorld}. */
export type WorldNode = "a" | "b";

/** A migration of the guest of a {@link MovingWorld}. */
interface Move {
  readonly migrationUid: string;
  readonly sourceNode: WorldNode;
  readonly targetNode: WorldNode;
  readonly sourcePod: string;
  readonly targetPod: string;
}

/** The first migration, by default. */
export const firstMove: Move = {
  ...{ migrationUid: "m-1", sourceNode: "a", targetNode: "b" },
  ...{ sourcePod: "source", targetPod: "target" },
};

/** A launcher of either node, with the verbs of a migration. */
interface MovingLauncher {
  readonly node: WorldNode;
  readonly podName: string;
  readonly launcher: WorldLauncher;
  readonly migrations: SimulatedMigrations;
}

/** Two nodes with an agent each, one guest, and as much of a migration controller as they need, in virtual time. */
export class MovingWorld implements AsyncDisposable {
  readonly clock = new VirtualClock();
  readonly random = new SeededRandom(11);
  readonly server = new InProcessApiServer({ clock: this.clock, random: this.random.fork() });
  readonly wires: MigrationWires;
  readonly launchers: MovingLauncher[] = [];
  /** Launchers of an earlier release, which knows nothing about migrations, by their Pods. */
  readonly old = new Set<string>();
  /** Nodes to which the signer gives no certificate. */
  readonly refused = new Set<WorldNode>();
  /** Nodes whose kernel does not let guests arrive by post-copy. */
  readonly noPostCopy = new Set<WorldNode>();
  readonly config: ClusterConfig;
  /** What was done for migrations, in order: launcher requests and opened paths, and whether QEMU encrypts. */
  readonly seen: string[] = [];
  readonly #agents = new Map<WorldNode, AbortController>();
  readonly #directories = new Map<WorldNode, string>();
  /** The open ends of the path between the launchers, with the port that they were created with. */
  readonly #ways = new Map<"in" | "out", { readonly node: WorldNode; readonly port: number }>();
  readonly #boots: Record<WorldNode, string> = { a: "boot-a", b: "boot-b" };
  #pids = 100;
  #ports = 4_000;
  #vmiUid = "";

  constructor(configuration: KubeVirtConfiguration = {}) {
    this.config = clusterConfig(configuration);
    const isCut = (): boolean => !this.#ways.has("in") || !this.#ways.has("out");
    this.wires = new MigrationWires({ clock: this.clock, isCut, bandwidth: 32 * 2 ** 20 });
    const found = crds({ group: "kubevirt.io" }).find(
      ({ spec }) => spec.names.kind === "VirtualMachineInstance",
    );
    this.server.seedByKind(found as never);
    for (const node of ["a", "b"] as const) {
      this.server.seedByKind({
        ...{ apiVersion: "v1", kind: "Node", metadata: { name: node } },
        status: { nodeInfo: { machineID: `machine-${node}`, bootID: this.#boots[node] } },
      } as never);
      this.#directories.set(node, mkdtempSync(join(tmpdir(), "virtkit-moving-")));
    }
  }

  get client() {
    return this.server.client("user");
  }

  /** A guest that runs on node a. */
  async begin(): Promise<void> {
    const created = await this.client.create(vmiResource, {
      ...{ apiVersion: "kubevirt.io/v1", kind: "VirtualMachineInstance" },
      metadata: { ...place, labels: { [names.labels.nodeName]: "a" } },
      spec: {
        domain: {
          ...{ memory: { guest: "64Mi" }, devices: {} },
          firmware: { uuid: "5d307ca9-b3ef-428c-8861-06e72d69f223" },
        },
      },
      status: { phase: "Scheduled", nodeName: "a" },
    } as never);
    this.#vmiUid = text(created.metadata.uid);
    const { launcher } = await this.startPod("a", "source");
    const { podUid: podUID } = launcher.container;
    await this.swap({ state: "Granted", vmiUID: this.#vmiUid, epoch: 1, seq: 1, podUID });
  }

  /** The migration controller tells the agents: who leaves from where, who receives. */
  async handOff(move = firstMove): Promise<void> {
    await this.startPod(move.targetNode, move.targetPod, move.migrationUid);
    await this.change((vmi) => ({
      ...vmi,
      metadata: {
        ...vmi.metadata,
        labels: {
          ...vmi.metadata?.labels,
          [names.labels.migrationTargetNodeName]: move.targetNode,
        },
      },
      status: { ...vmi.status, migrationState: move },
    }));
  }

  /** What else a migration controller does: hands the grant over once the target has said who it is. */
  async grantHandover(): Promise<boolean> {
    const vmi = await this.vmi();
    const key = names.own(targetHolderAnnotation);
    const said = readTargetHolder(entry(vmi.metadata.annotations, key));
    const { migrationState } = vmi.status ?? {};
    if (!said || !migrationState?.targetNodeAddress || migrationState.completed) return false;
    const { migrationUid: migrationUID = "" } = migrationState;
    if (said.migrationUID !== migrationUID) return false;
    const asked = { target: said.holder, migrationUID };
    const verdict = decide(await this.grant(), {
      ...{ kind: "handOver", ...asked, remembered: true, sourceRuns: true },
    });
    if ("refused" in verdict) return false;
    await this.swap(verdict.grant);
    return true;
  }

  async swap(grant: Grant): Promise<void> {
    const annotations = { [names.own(grantAnnotation)]: encodeGrant(grant) };
    await this.client.patch(vmiResource, place, {
      ...{ type: "merge", body: { metadata: { annotations } } },
    });
  }

  async startPod(node: WorldNode, podName: string, migrationUid?: string): Promise<MovingLauncher> {
    const pod = await this.client.create(podResource, {
      ...{ apiVersion: "v1", kind: "Pod" },
      metadata: {
        ...{ name: podName, namespace: "default" },
        labels: {
          [names.labels.app]: "virt-launcher",
          ...(migrationUid ? { [names.labels.migrationJobUid]: migrationUid } : {}),
        },
        annotations: migrationUid ? { [names.annotations.migrationJobName]: "move" } : {},
        ownerReferences: [
          {
            ...{ apiVersion: "kubevirt.io/v1", kind: "VirtualMachineInstance", name: "demo" },
            ...{ uid: this.#vmiUid, controller: true },
          },
        ],
      },
      spec: { nodeName: node, containers: [{ name: "compute", image: "x" }] },
    } as never);
    const pid = this.#pids++;
    const podUid = text(pod.metadata.uid);
    const containerID = `containerd://${pid.toString(16).padStart(64, "0")}`;
    const identity = { namespace: "default", name: "demo", vmiUid: this.#vmiUid, podUid };
    const guest = new SimulatedGuest({
      ...{ identity, clock: this.clock, random: this.random.fork() },
      script: { shutdown: 2_000 },
    });
    const process = { pid, startTime: String(pid), bootId: this.#boots[node] };
    const launcher = new WorldLauncher(guest, { podUid, containerID }, process, this.#vmiUid);
    const { wires, clock } = this;
    const migrations = new SimulatedMigrations({ guest, wires, node, clock });
    const moving = { node, podName, launcher, migrations };
    this.launchers.push(moving);
    await this.#reportPod(moving, { running: {} });
    return moving;
  }

  /** What the kubelet reports about a launcher's container. */
  async #reportPod({ podName, launcher }: MovingLauncher, state: object): Promise<void> {
    const { containerID } = launcher.container;
    const status = {
      containerStatuses: [
        {
          ...{ name: "compute", image: "x", imageID: "", ready: true, restartCount: 0 },
          containerID,
          state,
        },
      ],
    };
    await this.client.patch(
      podResource,
      { namespace: "default", name: podName },
      { type: "merge", body: { status } },
      { subresource: "status" },
    );
  }

  /** A launcher is killed: its guest ends with it, and the kubelet says so. */
  async killLauncher(podName: string): Promise<void> {
    const found = this.launchers.find((each) => each.podName === podName);
    if (!found) throw new Error(`there is no launcher ${podName}`);
    found.migrations[Symbol.dispose]();
    found.launcher.guest.domain.end("Destroyed");
    found.launcher.end();
    this.wires.breakStreams();
    const { containerID } = found.launcher.container;
    await this.#reportPod(found, { terminated: { exitCode: 137, reason: "Error", containerID } });
  }

  /** A node reboots: everything on it has ended, including its agent, which can be started again in the new boot. */
  async reboot(node: WorldNode): Promise<void> {
    this.stop(node);
    const own = this.launchers.filter((each) => each.node === node && !each.launcher.hasEnded);
    for (const { podName } of own) await this.killLauncher(podName);
    const bootID = `${this.#boots[node]}-again`;
    this.#boots[node] = bootID;
    const body = { status: { nodeInfo: { bootID } } };
    await this.client.patch(
      nodeResource,
      { name: node },
      { type: "merge", body },
      { subresource: "status" },
    );
  }

  start(node: WorldNode, seam?: SeamHook): NodeAgent {
    const stop = new AbortController();
    this.#agents.set(node, stop);
    const agent = createNodeAgent({
      ...{ client: this.server.client(`agent-${node}`), nodeName: node },
      ...{ host: this.#host(node), stateDirectory: this.#directories.get(node) ?? "" },
      identity: { machineID: `machine-${node}`, bootID: this.#boots[node] },
      ...{ clock: this.clock, random: this.random.fork(), wall: () => this.server.date() },
      lock: () => ({ [Symbol.dispose]: () => {} }),
      migrations: {
        credentials: async () => {
          if (!this.refused.has(node)) return { certificate: "", privateKey: "", authorities: "" };
          throw new NodeAgentError("AGENT_CERTIFICATE", "no certificate: the node is unknown");
        },
        address: () => `192.0.2.${node === "a" ? 1 : 2}`,
        postCopy: () => ({ supported: !this.noPostCopy.has(node), reason: "set the sysctl" }),
      },
      config: () => this.config,
      ...(seam ? { seam } : {}),
    });
    void agent.run({ signal: stop.signal }).catch((error: unknown) => {
      if (!stop.signal.aborted) throw error;
    });
    return agent;
  }

  /** An agent is killed: the connections that it carried between the launchers end with it. */
  stop(node: WorldNode): void {
    this.#agents.get(node)?.abort();
    this.#agents.delete(node);
    for (const end of ["in", "out"] as const) {
      if (this.#ways.get(end)?.node === node && this.#ways.delete(end)) this.wires.breakStreams();
    }
    for (const each of this.launchers) if (each.node === node) each.launcher.disconnect();
  }

  #host(node: WorldNode): NodeHost {
    const own = (): readonly MovingLauncher[] =>
      this.launchers.filter((each) => each.node === node);
    return {
      find: ({ containerID }) => {
        const found = own().find((each) => each.launcher.container.containerID === containerID);
        return found && !found.launcher.hasEnded ? this.#found(found) : undefined;
      },
      hasEnded: ({ pid }) =>
        own().every(({ launcher }) => launcher.process.pid !== pid || launcher.hasEnded),
      cleanUp: async () => {},
    };
  }

  #found({ node, launcher, migrations, podName }: MovingLauncher): FoundLauncher {
    const refuse = async (): Promise<never> => {
      throw new LauncherError("LAUNCHER_VERB", "it is older than its caller");
    };
    const isOld = this.old.has(podName);
    const sockets = { peer: "/peer", serve: "/serve", memory: "/memory", disks: "/disks" };
    return {
      process: launcher.process,
      selinuxContext: "none",
      hasEnded: () => launcher.hasEnded,
      connect: async () => {
        const client = withVerbs(await launcher.connect(), migrations, launcher, this.seen);
        if (!isOld) return client;
        const none = { migrate: refuse, receiveMigration: refuse, followMigration: refuse };
        return {
          ...client,
          ...none,
          cancelMigration: refuse,
          noteGrant: refuse,
          noteClaim: refuse,
        };
      },
      prepare: async (vmi) => {
        this.seen.push(`${podName} prepared`);
        return { vmi, context: {} } as unknown as Omit<SyncRequest, "mayRun">;
      },
      fileSizes: () => ({}),
      pluggedVolumes: () => [],
      interruptedVolumes: () => [],
      plugVolume: async () => {},
      unplugVolume: async () => {},
      openWayIn: async ({ address, encryption }) => {
        this.seen.push(`way in, encryption: ${encryption}`);
        const port = this.#ports++;
        this.#ways.set("in", { node, port });
        return {
          sockets,
          listener: { address, ports: { [port]: 0, [port + 10_000]: 49_152 } },
          [Symbol.asyncDispose]: async () => {
            this.seen.push("way in closed");
            this.#close("in", port);
          },
        };
      },
      openWayOut: async ({ target, migrationUID, encryption }) => {
        this.seen.push(`way out, encryption: ${encryption}`);
        const open = this.#ways.get("in")?.port;
        if (open === undefined || !(String(open) in target.ports))
          throw new Error("nobody listens");
        const port = this.#ports++;
        this.#ways.set("out", { node, port });
        return {
          ...{ sockets, target },
          isReady: async () => this.wires.stream(migrationUID) !== undefined,
          [Symbol.asyncDispose]: async () => {
            this.seen.push("way out closed");
            this.#close("out", port);
          },
        };
      },
      clearWay: () => void this.seen.push(`${podName} cleared`),
      [Symbol.dispose]: () => {},
    };
  }

  #close(end: "in" | "out", port: number): void {
    if (this.#ways.get(end)?.port !== port) return;
    this.#ways.delete(end);
    this.wires.breakStreams();
  }

  /** Nodes on which the guest runs: never more than one. */
  get running(): readonly WorldNode[] {
    return this.launchers.filter(({ launcher }) => launcher.isRunning).map(({ node }) => node);
  }

  async vmi(): Promise<VirtualMachineInstance & KubeObject> {
    return (await this.client.get(vmiResource, place)) as VirtualMachineInstance & KubeObject;
  }

  async migrationState(): Promise<VirtualMachineInstanceMigrationState> {
    return (await this.vmi()).status?.migrationState ?? {};
  }

  async grant(): Promise<ReadGrant> {
    const { annotations, uid } = (await this.vmi()).metadata;
    return decodeGrant(entry(annotations, names.own(grantAnnotation)), text(uid));
  }

  async change(edit: (vmi: VirtualMachineInstance) => object): Promise<void> {
    const vmi = await this.vmi();
    await this.client.update(vmiResource, edit(vmi) as KubeObject);
  }

  async nodeOf(name: string): Promise<KubeObject> {
    return await this.client.get(nodeResource, { name });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const node of ["a", "b"] as const) this.stop(node);
    for (const { launcher, migrations } of this.launchers) {
      migrations[Symbol.dispose]();
      launcher.guest[Symbol.dispose]();
    }
    for (const directory of this.#directories.values()) {
      rmSync(directory, { recursive: true, force: true });
    }
  }
}
