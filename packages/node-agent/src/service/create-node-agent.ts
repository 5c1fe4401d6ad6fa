import { type Clock, realClock, wallTime } from "@virtkit/api/clock";
import { type ClusterConfig, clusterConfig } from "@virtkit/api/config";
import { type Observers, silentLog } from "@virtkit/api/observe";
import { type Random, realRandom } from "@virtkit/api/random";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { defineResource, type KubeClient, type KubeObject, type ObjectName } from "@virtkit/kube";
import { Cache } from "@virtkit/kube/cache";
import { controllerOf, createController, watch } from "@virtkit/kube/controller";
import { EventRecorder } from "@virtkit/kube/writes";
import type { MigrationService } from "../migration/migration-service.ts";
import { NodeMigrations } from "../migration/node-migrations.ts";
import type { AgentContext, NodeHooks } from "./agent-context.ts";
import { lockNode } from "./agent-lock.ts";
import { GuestRecords } from "./guest-record.ts";
import { podResource, withoutSpec } from "./launcher-pods.ts";
import { type HeldGuest, NodeGuests } from "./node-guests.ts";
import type { NodeHost } from "./node-host.ts";
import { type IdentityFiles, type MachineIdentity, machineIdentity, OwnNode } from "./own-node.ts";
import { procNodeHost } from "./proc-node-host.ts";
import { effectsWith, type SeamHook } from "./seams.ts";
import { VersionMark } from "./version-mark.ts";

/** Options of {@link createNodeAgent}. */
export interface NodeAgentOptions extends Observers, IdentityFiles {
  readonly client: KubeClient;
  /** Name of the Node object. */
  readonly nodeName: string;
  /** The agent's own directory, on a disk of the node: its contents outlive the agent. */
  readonly stateDirectory: string;
  /** The cluster's current configuration. Default: that of a cluster without settings. */
  config?(): ClusterConfig;
  /** Facts about the node for the conversion. */
  readonly environment?: Omit<Parameters<typeof procNodeHost>[0], "stateDirectory">["environment"];
  /** Where launchers are found. Default: this host, by `/proc`. */
  readonly host?: NodeHost;
  /**
   * Where the lock of the node is: the same directory for all agents that may work on it. Default: `/run/virtkit` of
   * the node's first process, not of the agent's Pod.
   */
  readonly runDirectory?: string;
  /** Makes this the only agent of the node. Default: a kernel lock, which ends with the process. */
  readonly lock?: () => Disposable;
  /** The identity of this machine. Default: what the files say. */
  readonly identity?: MachineIdentity;
  /** The CPU model that a `host-model` guest gets; empty, the default, if the node does not report it. */
  readonly hostCpuModel?: () => string;
  readonly hooks?: NodeHooks;
  /** What lets guests arrive and leave. Default: they do neither. */
  readonly migrations?: MigrationService;
  /** Milliseconds of silence after which a launcher counts as silent. Default 60,000. */
  readonly silenceLimit?: number;
  /** VMIs that are handled at the same time. Default 256, more than a node has: none waits for another. */
  readonly concurrency?: number;
  /** Called before and after every action; for tests. */
  readonly seam?: SeamHook;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly wall?: () => Date;
}

/** The agent of a node, made by {@link createNodeAgent}. */
export interface NodeAgent {
  /**
   * Takes the lock of the node, watches the VMIs of this node, and handles them until the signal. Guests
   * keep running when it ends, however it ends.
   */
  run(options: { readonly signal: AbortSignal }): Promise<void>;
  /** A guest of this node by its VMI's name, for those who serve it. */
  guest(vmi: ObjectName): HeldGuest | undefined;
  /** All guests of this node. */
  guests(): readonly HeldGuest[];
  /** For a liveness probe; empty if all is well. */
  problems(): readonly string[];
}

type Vmi = VirtualMachineInstance & KubeObject;

/** Milliseconds for everything that one pass does; a sync with its disks may take two minutes of it. */
const passDeadline = 300_000;

/**
 * The node agent as a service: watches the VMIs of one node, and only those, finds their launchers, prepares their
 * sandboxes, claims the run grant and has the guest started; writes its status; and ends it.
 *
 * @example
 * const agent = createNodeAgent({ client: inClusterClient(), nodeName, stateDirectory: "/var/lib/virtkit" });
 * await agent.run({ signal });
 */
export function createNodeAgent(options: NodeAgentOptions): NodeAgent {
  const { client, nodeName, stateDirectory, log = silentLog, metrics } = options;
  const config = options.config ?? (() => clusterConfig());
  const clock = options.clock ?? realClock;
  const random = options.random ?? realRandom;
  const wall = options.wall ?? wallTime;
  const { names } = config();
  const effects = effectsWith(options.seam);
  const observers = { log, ...(metrics && { metrics }) };
  const vmis = defineResource({
    ...{ group: names.groups.core, version: "v1" },
    ...{ plural: "virtualmachineinstances", kind: "VirtualMachineInstance" },
  });
  const vmiCache = new Cache<Vmi>(vmis as never);
  const incomingCache = new Cache<Vmi>(vmis as never);
  const podCache = new Cache<KubeObject>(podResource);
  const host =
    options.host ??
    procNodeHost({
      stateDirectory,
      environment: options.environment ?? (() => ({ config: config() })),
    });
  let guests: NodeGuests | undefined;

  const controller = createController({
    name: "node-agent",
    client,
    clock,
    random,
    ...observers,
    concurrency: options.concurrency ?? 256,
    deadline: passDeadline,
    watches: [
      watch(vmiCache, { follow: { labelSelector: `${names.labels.nodeName}=${nodeName}` } }),
      watch(incomingCache, {
        follow: { labelSelector: `${names.labels.migrationTargetNodeName}=${nodeName}` },
      }),
      watch(podCache, {
        keys: controllerOf(vmis),
        follow: {
          labelSelector: `${names.labels.app}=virt-launcher`,
          fieldSelector: `spec.nodeName=${nodeName}`,
          transform: withoutSpec,
        },
      }),
    ],
    reconcile: async (object, { signal }) => await guests?.reconcile(object, signal),
  });

  return {
    async run({ signal }) {
      const { runDirectory } = options;
      const lock = options.lock ?? (() => lockNode({ nodeName, stateDirectory, runDirectory }));
      using _ = await effects("take the lock", lock);
      const identity = options.identity ?? machineIdentity(options);
      const context: Omit<AgentContext, "signal"> = {
        ...{ client, vmis, names, host, effects, clock, random, wall, log },
        records: new GuestRecords(stateDirectory),
        mark: new VersionMark(stateDirectory),
        ownNode: new OwnNode(client, nodeName, identity, effects),
        hooks: options.hooks,
        // In the boot that it was found in: after another one it is still known as what grants name.
        holderOf: ({ podUid, containerID, nonce, bootID = identity.bootID }) => ({
          ...{ podUID: podUid, containerID, nonce, node: nodeName },
          ...{ machineID: identity.machineID, bootID },
        }),
      };
      const recorder = new EventRecorder({
        ...{ client, component: "virt-handler", host: nodeName, clock, random, wall },
        ...observers,
      });
      const enqueue = (object: ObjectName, after: number): void =>
        controller.enqueue(object, { after });
      await using migrations = new NodeMigrations({
        ...{ context, nodeName, config, recorder, enqueue, service: options.migrations },
      });
      const own = new NodeGuests({
        ...{ context, nodeName, config, random, recorder, migrations, enqueue },
        ...{ vmis: vmiCache, incoming: incomingCache, pods: podCache },
        hostCpuModel: options.hostCpuModel ?? (() => ""),
        silenceLimit: options.silenceLimit ?? 60_000,
      });
      guests = own;
      try {
        const recalled = own.recall();
        const running = controller.run({ signal });
        for (const vmi of recalled) controller.enqueue(vmi);
        await running;
      } finally {
        guests = undefined;
        await own[Symbol.asyncDispose]();
        await recorder.close();
      }
    },
    guest: (vmi) => guests?.find(vmi),
    guests: () => guests?.all() ?? [],
    problems: () => [...controller.problems(), ...(guests?.problems() ?? [])],
  };
}
