import type { Clock } from "@virtkit/api/clock";
import { names as namesOf } from "@virtkit/api/names";
import type { VirtualMachineInstanceMigration } from "@virtkit/api/schema";
import { at, text } from "@virtkit/api/shape";
import { evacuationReconciler } from "@virtkit/controller/evacuation";
import {
  isFinalMigration,
  isTargetPodOf,
  type MigrationView,
  migrationReconciler,
} from "@virtkit/controller/migration";
import { clientTarget } from "@virtkit/controller/plan";
import {
  migrationIndexes,
  podIndexes,
  type VmiCaches,
  type VmiPlanConfig,
  type VmiView,
  vmiReconciler,
  vmiSources,
} from "@virtkit/controller/vmi";
import type { KubeClient, KubeObject, ObjectName } from "@virtkit/kube";
import { Lane } from "./lane.ts";
import type { Life } from "./life.ts";
import { kinds, SeenObjects, type WatchedKind } from "./seen-objects.ts";
import type { SmallStore } from "./small-store.ts";

const names = namesOf();
const { migrationJobName } = names.annotations;
const vmi = { namespace: "default", name: "demo" };
const key = "default/demo";

/** What a controller's process works with. */
export interface ControllerProcessOptions {
  readonly life: Life;
  readonly store: SmallStore;
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly wall: () => Date;
  readonly config: VmiPlanConfig;
}

interface OwnWrite {
  readonly plural: string;
  readonly version: number;
}

/**
 * The real controllers of VMIs, migrations and evacuation, each in its lane, with caches that lag as
 * chosen.
 */
export class ControllerProcess {
  readonly life: Life;
  readonly #options: ControllerProcessOptions;
  readonly #seen = {
    virtualmachineinstances: new SeenObjects(undefined, {
      node: ({ status }: { status?: { nodeName?: string } }) => [text(status?.nodeName)],
    }),
    virtualmachineinstancemigrations: new SeenObjects(undefined, migrationIndexes),
    pods: new SeenObjects(undefined, podIndexes),
    nodes: new SeenObjects(),
  } satisfies Record<WatchedKind, SeenObjects>;
  readonly #seenAt = new Map<string, number>();
  /** Whether everything that existed when it began has been looked at. */
  #hasWoken = false;
  /** What was written in the last pass over a key. */
  readonly #unseen = new Map<string, OwnWrite[]>();
  readonly #lanes: Readonly<Record<"vmi" | "migration" | "evacuation", Lane>>;

  constructor(options: ControllerProcessOptions) {
    this.#options = options;
    this.life = options.life;
    const { clock } = options;
    const lane = (name: string, pass: (each: string) => Promise<{ requeueAfter?: number }>) =>
      new Lane(clock, pass, (each) => this.#hasSeen(`${name} ${each}`));
    this.#lanes = {
      vmi: lane("vmi", this.#vmiPass()),
      migration: lane("migration", this.#migrationPass()),
      evacuation: lane("evacuation", this.#evacuationPass()),
    };
  }

  /** Whether a watch has something to report. */
  isBehind(kind: WatchedKind): boolean {
    return (this.#seenAt.get(kind) ?? -1) < this.#options.store.changedAt(kind);
  }

  /** A watch reports what has changed. */
  see(kind: WatchedKind): void {
    const { store } = this.#options;
    const before = this.#seen[kind].objects;
    this.#seenAt.set(kind, store.changedAt(kind));
    this.#seen[kind].see(store.list(kind));
    const after = this.#seen[kind].objects;
    const changed = [
      ...after.filter((object) => !before.includes(object)),
      ...before.filter((old) => !after.some(({ metadata }) => metadata.uid === old.metadata.uid)),
    ];
    // Nothing is known until every watch has reported once.
    if (this.#seenAt.size < kinds.length) return;
    if (changed.length > 0 || !this.#hasWoken) this.#wake(kind, changed);
    for (const lane of Object.values(this.#lanes)) lane.look();
  }

  #wake(kind: WatchedKind, changed: readonly KubeObject[]): void {
    const { vmi: vmis, evacuation } = this.#lanes;
    vmis.enqueue(key);
    this.#wakeMigrations(kind, changed);
    this.#hasWoken = true;
    if (kind === "nodes")
      for (const { metadata } of changed) evacuation.enqueue(text(metadata.name));
    const [found] = this.#seen.virtualmachineinstances.objects;
    const { nodeName, evacuationNodeName } = (Object(found) as Evacuated).status ?? {};
    // The plan begins with this question; a pass that would answer no is skipped.
    const isAsked = evacuationNodeName || this.#seen.nodes.objects.some(isTainted);
    if (nodeName && isAsked) evacuation.enqueue(nodeName);
  }

  #wakeMigrations(kind: WatchedKind, changed: readonly KubeObject[]): void {
    const { migration } = this.#lanes;
    const isTouched = kind === "virtualmachineinstancemigrations";
    const moving = this.#migrations.filter((each) => !isFinalMigration(each as never));
    const woken = this.#hasWoken ? moving : this.#migrations;
    const touched = isTouched ? [...changed, ...woken] : woken;
    for (const { metadata } of touched) migration.enqueue(text(metadata.name));
    // A target Pod wakes its migration, even if that has ended.
    for (const { metadata } of changed) {
      const name = metadata.annotations?.[migrationJobName];
      if (name !== undefined) migration.enqueue(name);
    }
  }

  get #migrations(): readonly KubeObject[] {
    return this.#seen.virtualmachineinstancemigrations.objects;
  }

  #hasSeen(pass: string): boolean {
    const unseen = this.#unseen.get(pass) ?? [];
    return unseen.every(({ plural, version }) => (this.#seenAt.get(plural) ?? 0) >= version);
  }

  /** Where the plan of one pass goes. */
  #runner(pass: string): Pick<Parameters<typeof vmiReconciler>[0], "record" | "target"> {
    const { client, store } = this.#options;
    const target = clientTarget(client, { names });
    const own: OwnWrite[] = [];
    this.#unseen.set(pass, own);
    return {
      record: () => {},
      target: {
        write: async (write, options) => {
          const answer = await target.write(write, options);
          const { plural } = write.resource;
          own.push({ plural, version: store.changedAt(plural) });
          return answer;
        },
      },
    };
  }

  get #caches(): VmiCaches {
    return {
      ...{ vmis: this.#seen.virtualmachineinstances, vms: none, pods: this.#seen.pods },
      ...{ claims: none, migrations: this.#seen.virtualmachineinstancemigrations },
      ...{ nodes: this.#seen.nodes, namespaces: namespaces, configMaps: none },
      ...{ resourceQuotas: none, storageClasses: none },
    } as unknown as VmiCaches;
  }

  #sources(): ReturnType<typeof vmiSources> {
    const { client } = this.#options;
    return vmiSources({ caches: this.#caches, client, names, isBehind: () => false });
  }

  #vmiPass(): (each: string) => Promise<{ requeueAfter?: number }> {
    const { config, wall } = this.#options;
    const sources = this.#sources();
    return async () =>
      await vmiReconciler({ ...this.#runner(`vmi ${key}`), sources, config: () => config, wall })(
        vmi,
      );
  }

  #migrationPass(): (name: string) => Promise<{ requeueAfter?: number }> {
    const { config, wall } = this.#options;
    const sources = this.#sources();
    return async (name) => {
      const object = { namespace: vmi.namespace, name };
      const view = (of: VmiView | undefined) => of && this.#migrationView(object, of);
      return await migrationReconciler({
        ...{ ...this.#runner(`migration ${name}`), config: () => config, wall },
        sources: {
          cached: () => view(sources.cached(vmi)),
          live: async (_, options) => view(await sources.live(vmi, options)) as MigrationView,
        },
      })(object);
    };
  }

  #migrationView(object: ObjectName, of: VmiView): MigrationView {
    const found = this.#seen.virtualmachineinstancemigrations.get(object);
    const migrations = this.#migrations as unknown as readonly VirtualMachineInstanceMigration[];
    const { pods } = of;
    return {
      migration:
        found.state === "present"
          ? (found.object as unknown as VirtualMachineInstanceMigration)
          : undefined,
      ...{ vmi: of.vmi, pods, claims: [], migrations, vmiOf: () => of.vmi },
      hasTargetPod: (other) =>
        of.vmi !== undefined &&
        pods.some((pod) => isTargetPodOf(pod, other, of.vmi as never, names)),
      nodes: () => this.#seen.nodes.objects as never,
      ...{
        namespace: theNamespace as never,
        policies: [],
        storageClasses: [],
        storageProfiles: [],
      },
      lookup: of.lookup,
      ...(of.grant && { grant: of.grant }),
    };
  }

  #evacuationPass(): (node: string) => Promise<{ requeueAfter?: number }> {
    const { config, wall } = this.#options;
    const { virtualmachineinstances: vmis, virtualmachineinstancemigrations: migrations } =
      this.#seen;
    const caches = { nodes: this.#seen.nodes, vmis, migrations, pods: this.#seen.pods } as never;
    return async (name) =>
      await evacuationReconciler({
        ...{ ...this.#runner(`evacuation ${name}`), caches, config: () => config.cluster, wall },
      })({ name });
  }
}

interface Evacuated {
  readonly status?: { readonly nodeName?: string; readonly evacuationNodeName?: string };
}

function isTainted(node: KubeObject): boolean {
  return at(node, "spec", "taints") !== undefined;
}

const theNamespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } };
const namespaces = new SeenObjects();
namespaces.see([theNamespace as KubeObject]);
const none = new SeenObjects();
none.see([]);
