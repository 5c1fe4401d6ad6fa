import type { Clock } from "@virtkit/api/clock";
import type { ClusterConfig } from "@virtkit/api/config";
import { silentLog } from "@virtkit/api/observe";
import { at, entry } from "@virtkit/api/shape";
import { defineResource, type KubeClient, type KubeObject, type ObjectName } from "@virtkit/kube";
import type { Credentials } from "@virtkit/pki";
import { SeededRandom } from "@virtkit/testing/virtual-time";
import type { MigrationService } from "../../migration/migration-service.ts";
import { NodeMigrations } from "../../migration/node-migrations.ts";
import type { AgentContext } from "../../service/agent-context.ts";
import { NodeGuests } from "../../service/node-guests.ts";
import type { NodeHost } from "../../service/node-host.ts";
import { type MachineIdentity, OwnNode } from "../../service/own-node.ts";
import type { Effects, Seam } from "../../service/seams.ts";
import type { AgentDisk } from "./agent-disk.ts";
import { Lane } from "./lane.ts";
import type { Life } from "./life.ts";
import type { Requests } from "./requests.ts";
import { SeenObjects, type WatchedKind } from "./seen-objects.ts";
import type { SmallStore } from "./small-store.ts";

const vmi = { namespace: "default", name: "demo" };
const key = "default/demo";

/** What an agent's process works with. */
export interface AgentProcessOptions {
  readonly life: Life;
  readonly node: string;
  readonly identity: MachineIdentity;
  readonly store: SmallStore;
  readonly requests: Requests;
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly wall: () => Date;
  readonly config: ClusterConfig;
  readonly host: NodeHost;
  readonly disk: AgentDisk;
  readonly seed: number;
}

/** The agent's actions on launchers and its disk before which it may be killed. Requests to the API server wait by themselves. */
const ownSeams: ReadonlySet<Seam> = new Set([
  "write the record",
  "open the way in",
  "open the way out",
  "receive the guest",
  "begin the migration",
  "cancel the migration",
  "delete the domain",
  "sync the guest",
  "kill the guest",
] as const);

/** The real passes of the node agent over its guests, with caches that lag as chosen. */
export class AgentProcess {
  readonly life: Life;
  readonly #options: AgentProcessOptions;
  readonly #vmis: SeenObjects;
  readonly #incoming: SeenObjects;
  readonly #pods: SeenObjects;
  readonly #seenAt = new Map<string, number>();
  readonly #lane: Lane;
  readonly #guests: NodeGuests;

  constructor(options: AgentProcessOptions) {
    this.#options = options;
    const { life, node, config, clock, seed } = options;
    this.life = life;
    const { labels } = config.names;
    const isLabelled = (label: string) => (object: KubeObject) =>
      entry(object.metadata.labels, label) === node;
    this.#vmis = new SeenObjects(isLabelled(labels.nodeName));
    this.#incoming = new SeenObjects(isLabelled(labels.migrationTargetNodeName));
    this.#pods = new SeenObjects((pod) => at(pod, "spec", "nodeName") === node);
    const context = this.#context();
    const random = new SeededRandom(seed);
    const recorder = { record: () => {} } as never;
    const enqueue = (_: ObjectName, after: number): void => {
      if (!life.isOver) this.#lane.enqueue(key, after);
    };
    const migrations = new NodeMigrations({
      ...{ context, nodeName: node, config: () => config, recorder, enqueue },
      service: migrationService(node),
    });
    this.#guests = new NodeGuests({
      ...{ context, nodeName: node, config: () => config, random, recorder, migrations, enqueue },
      ...{
        vmis: this.#vmis as never,
        incoming: this.#incoming as never,
        pods: this.#pods as never,
      },
      hostCpuModel: () => "Skylake",
      silenceLimit: 60_000,
    });
    // As in a controller: what it remembers from before its start also waits until its watches have reported once.
    const hasSynced = (): boolean => this.#seenAt.size > 1;
    const pass = async () => await this.#guests.reconcile(vmi, life.signal);
    this.#lane = new Lane(clock, pass, hasSynced);
    for (const _ of this.#guests.recall()) this.#lane.enqueue(key);
  }

  isBehind(kind: WatchedKind): boolean {
    if (kind !== "virtualmachineinstances" && kind !== "pods") return false;
    return (this.#seenAt.get(kind) ?? -1) < this.#options.store.changedAt(kind);
  }

  see(kind: WatchedKind): void {
    const { store } = this.#options;
    this.#seenAt.set(kind, store.changedAt(kind));
    const objects = store.list(kind);
    let isNews = true;
    if (kind === "pods") {
      const before = this.#pods.objects;
      this.#pods.see(objects);
      const now = this.#pods.objects;
      isNews = now.length !== before.length || now.some((pod, index) => pod !== before[index]);
    } else {
      isNews = this.#vmis.objects.length + this.#incoming.objects.length > 0;
      this.#vmis.see(objects);
      this.#incoming.see(objects);
      isNews ||= this.#vmis.objects.length + this.#incoming.objects.length > 0;
    }
    if (isNews) this.#lane.enqueue(key);
    this.#lane.look();
  }

  #context(): Omit<AgentContext, "signal"> {
    const { life, node, identity, client, clock, wall, config, host, disk, requests, seed } =
      this.#options;
    const { names } = config;
    const effects: Effects = async (seam, work) => {
      if (ownSeams.has(seam)) await requests.make(life, "own", seam, () => undefined);
      return await work();
    };
    return {
      ...{ client, names, host, effects, clock, wall, log: silentLog },
      vmis: defineResource({
        ...{ group: names.groups.core, version: "v1" },
        ...{ plural: "virtualmachineinstances", kind: "VirtualMachineInstance" },
      }),
      random: new SeededRandom(seed + 1),
      records: disk.records,
      mark: disk.mark,
      ownNode: new OwnNode(client, node, identity, effects),
      holderOf: ({ podUid, containerID, nonce, bootID = identity.bootID }) => ({
        ...{ podUID: podUid, containerID, nonce, node },
        ...{ machineID: identity.machineID, bootID },
      }),
    };
  }
}

function migrationService(node: string): MigrationService {
  return { credentials: async () => ({}) as Credentials, address: () => addressOf(node) };
}

/** The address of a node. */
export function addressOf(node: string): string {
  return `192.0.2.${node.charCodeAt(node.length - 1)}`;
}
