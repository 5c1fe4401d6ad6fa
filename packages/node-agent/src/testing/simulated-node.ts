import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sleep } from "@virtkit/api/clock";
import { clusterConfig } from "@virtkit/api/config";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { SyncRequest } from "@virtkit/domain-manager";
import { defineResource } from "@virtkit/kube";
import { LauncherError } from "@virtkit/launcher/client";
import type { Credentials } from "@virtkit/pki";
import type { TestCluster } from "@virtkit/testing/cluster";
import type { ActorContext, NodeActorMain } from "@virtkit/testing/faults";
import { planHeartbeat } from "../duties/heartbeat.ts";
import type { WayIn, WayOut } from "../migration/migration-way.ts";
import type { ProcessIdentity } from "../sandbox/process-identity.ts";
import { createNodeAgent } from "../service/create-node-agent.ts";
import type { FoundLauncher, GuestClient, NodeHost } from "../service/node-host.ts";

const nodes = defineResource({ version: "v1", plural: "nodes", kind: "Node", namespaced: false });

type Launcher = ReturnType<TestCluster["launchers"]>[number];

const directories = new Set<string>();

/** Removes the disks of all simulated nodes. */
export function removeDisks(): void {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
  directories.clear();
}

/** The node agent as it runs on nodes, on a simulated one. Its disk outlives its process; see {@link removeDisks}. */
export function nodeAgentOn(node: string): NodeActorMain {
  const disks = new WeakMap<TestCluster, string>();
  return async ({ client, clock, random, wall, signal }, cluster) => {
    const host = cluster.nodes.find(({ name }) => name === node);
    if (!host) throw new Error(`there is no node ${node}`);
    const stateDirectory = disks.get(cluster) ?? mkdtempSync(join(tmpdir(), "virtkit-sim-"));
    disks.set(cluster, stateDirectory);
    directories.add(stateDirectory);
    const ends = new AbortController();
    const over = AbortSignal.any([signal, ends.signal]);
    const agent = createNodeAgent({
      ...{ client, nodeName: node, stateDirectory, clock, random, wall },
      host: simulatedHost(node, cluster, over),
      identity: host.boot,
      lock: () => ({ [Symbol.dispose]: () => {} }),
      hostCpuModel: () => "Skylake",
      migrations: {
        credentials: async () => ({}) as Credentials,
        address: () => addressOf(node),
      },
    });
    const { bootID } = host.boot;
    const running = agent.run({ signal: over });
    void beat(node, bootID, { client, clock, random, wall, signal: over });
    // It ends when its node loses power, and its supervisor restarts it once power is back.
    while (!over.aborted && host.isOn && host.boot.bootID === bootID) {
      await Promise.race([running, sleep(clock, 1_000, over)]);
    }
    ends.abort();
    await running.catch(() => {});
    while (!signal.aborted && !host.isOn) await sleep(clock, 1_000, signal);
    if (!signal.aborted) throw new Error(`${node} was without power`);
  };
}

async function beat(
  name: string,
  bootId: string,
  { client, clock, wall, signal }: ActorContext,
): Promise<void> {
  while (!signal.aborted) {
    const facts = { schedulable: true, cpuManager: false, now: wall(), bootId };
    const body = planHeartbeat(facts, clusterConfig());
    const isDone = await client.patch(nodes, { name }, { type: "merge", body }).then(
      () => true,
      // The next one follows soon.
      () => false,
    );
    await sleep(clock, isDone ? 60_000 : 5_000, signal);
  }
}

function addressOf(node: string): string {
  return `192.0.2.${node.replace(/\D/g, "")}`;
}

function simulatedHost(node: string, cluster: TestCluster, life: AbortSignal): NodeHost {
  const here = () => cluster.launchers().filter((launcher) => launcher.node === node);
  return {
    find({ containerID }) {
      const launcher = here().find((each) => each.containerID === containerID);
      return launcher && found(launcher, cluster, life);
    },
    hasEnded: (process) =>
      here().every((launcher) => processOf(launcher, cluster).pid !== process.pid),
    cleanUp: async () => {},
  };
}

/** A number for each container, as a kernel would assign it. */
function processOf({ containerID, node }: Launcher, cluster: TestCluster): ProcessIdentity {
  const pid = [...containerID].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) >>> 0, 7);
  const bootId = cluster.nodes.find(({ name }) => name === node)?.boot.bootID ?? "";
  return { pid: (pid % 4_000_000) + 2, startTime: String(pid), bootId };
}

function found(launcher: Launcher, cluster: TestCluster, life: AbortSignal): FoundLauncher {
  const { node } = launcher;
  const sockets = { peer: "peer", serve: "serve", memory: "memory", disks: "disks" };
  const nothing = async () => {};
  return {
    process: processOf(launcher, cluster),
    hasEnded: () => launcher.isOver,
    connect: async () => connect(launcher, life),
    prepare: async (vmi: VirtualMachineInstance) =>
      ({ vmi, context: {} }) as unknown as Omit<SyncRequest, "mayRun">,
    fileSizes: () => ({}),
    selinuxContext: "none",
    pluggedVolumes: () => [],
    interruptedVolumes: () => [],
    plugVolume: nothing,
    unplugVolume: nothing,
    async openWayIn(): Promise<WayIn> {
      const listener = { address: addressOf(node), ports: { "4001": 0, "4002": 49152 } };
      return { sockets, listener, [Symbol.asyncDispose]: nothing };
    },
    async openWayOut({ target }): Promise<WayOut> {
      const to = cluster.nodes.find(({ name }) => addressOf(name) === target.address)?.name ?? "";
      const isReady: WayOut["isReady"] = async ({ migrationUID }) =>
        !cluster.network.isCut([node], [to]) && cluster.wires().stream(migrationUID) !== undefined;
      return { sockets, target, isReady, [Symbol.asyncDispose]: nothing };
    },
    [Symbol.dispose]: () => {},
  };
}

/** A connection that ends with the agent, as the kernel closes those of a process that is gone. */
function connect(launcher: Launcher, life: AbortSignal): GuestClient {
  const closed = new AbortController();
  const ended = AbortSignal.any([life, closed.signal]);
  const { guest, migrations } = launcher;
  const call =
    <A extends unknown[], T>(work: (...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> => {
      if (launcher.isOver || ended.aborted) {
        throw new LauncherError("LAUNCHER_CLOSED", "the connection is lost");
      }
      return await work(...args);
    };
  return {
    syncVmi: call((request, options) => guest.syncVmi(request, options)),
    shutdown: call((options) => guest.shutdown(options)),
    kill: call((options) => guest.kill(options)),
    // A launcher ends with its guest, even if none has arrived.
    delete: call(async (options) => {
      await guest.delete(options);
      launcher.end();
    }),
    memoryDump: call((request, options) => guest.memoryDump(request, options)),
    ping: call(async () => {}),
    status: call((options) => guest.status(options)),
    async *events({ signal } = {}) {
      yield* guest.events({ signal: AbortSignal.any([ended, ...(signal ? [signal] : [])]) });
      if (ended.aborted) throw new LauncherError("LAUNCHER_CLOSED", "the connection is lost");
    },
    migrate: call((request) => migrations.migrate(request)),
    receiveMigration: call((request) => migrations.receiveMigration(request)),
    followMigration: call((request, options) => migrations.followMigration(request, options)),
    cancelMigration: call((request) => migrations.cancelMigration(request)),
    noteGrant: call((request) => migrations.noteGrant(request)),
    noteClaim: call((request) => migrations.noteClaim(request)),
    close: async () => closed.abort(),
  };
}
