import type { MigrationPolicy, VirtualMachineInstanceMigration } from "@virtkit/api/schema";
import { text } from "@virtkit/api/shape";
import { isNotFound, type KubeObject, type ObjectName, type RequestOptions } from "@virtkit/kube";
import { objectKey } from "@virtkit/kube/cache";
import type { Priority } from "@virtkit/kube/queue";
import { needsStateClaim } from "@virtkit/launcher-pod/traits";
import { migrationPriority, queuePriority } from "@virtkit/migration/policy";
import { isTargetPodOf } from "../migration/migration-pass.ts";
import { isFinalMigration, phaseOf } from "../migration/migration-phase.ts";
import { migrationReconciler } from "../migration/migration-reconciler.ts";
import type { JobObject, MigrationView } from "../migration/migration-view.ts";
import { jobResource, recoveryJobName } from "../migration/recovery-job.ts";
import { type KnownList, known, knownObject, whenKnown } from "../plan/object-source.ts";
import { vmiSources } from "../vmi/vmi-sources.ts";
import type { VmiView } from "../vmi/vmi-view.ts";
import type { ControllerPart, ControllerPartMaker, PartContext } from "./controller-part.ts";
import type { SharedCaches } from "./shared-caches.ts";
import { sharedWatch, syncedFirst } from "./shared-watch.ts";
import { vmiCaches } from "./vmi-part.ts";

/** Migrations: their target Pods, the handoff to the node agents, and their progress. */
export const migrationPart: ControllerPartMaker = { name: "migration", make };

function make(context: PartContext): ControllerPart {
  const { caches, client, names } = context;
  const sources = vmiSources({ caches: vmiCaches(caches), client, names, isBehind: () => false });
  /** Migrations whose target Pods the caches may not show yet: the limits must count them. */
  const started = new Map<string, ObjectName>();
  const isAnyBehind = (): boolean => {
    for (const [key, name] of started) {
      if (context.runner(name).behindFor === 0) started.delete(key);
    }
    return started.size > 0;
  };
  const config = () => context.config();
  const wall = () => context.wall();
  return {
    // One at a time: the limits count what runs, and every pass is short.
    concurrency: 1,
    priority: (name) => priorityOf(whenKnown(() => knownObject(caches.migrations.get(name)))),
    watches: watches(context),
    reconcile: async (name, { signal }) => {
      const { behindFor, ...runner } = context.runner(name);
      if (behindFor > 0) return { requeueAfter: behindFor };
      const recoveryJob = await readJob(context, name, signal);
      const view = (vmi: VmiView | undefined): MigrationView | undefined =>
        vmi && { ...migrationView(context, name, vmi), recoveryJob, isAnyBehind: isAnyBehind() };
      const vmi = vmiNameOf(caches, name);
      const answer = await migrationReconciler({
        ...runner,
        config,
        wall,
        sources: {
          cached: () => view(sources.cached(vmi)),
          live: async (_, options) => view(await sources.live(vmi, options)) as MigrationView,
        },
      })(name, { signal });
      if (context.runner(name).behindFor > 0) started.set(objectKey(name), name);
      return answer;
    },
  };
}

/** The VMI that a migration names. */
function vmiNameOf({ migrations }: SharedCaches, name: ObjectName): ObjectName {
  return { ...name, name: text(knownObject(migrations.get(name))?.spec?.vmiName) };
}

/** The migration together with what is known about its VMI. */
function migrationView(
  { caches, names }: PartContext,
  name: ObjectName,
  vmi: VmiView,
): MigrationView {
  const migration = knownObject(caches.migrations.get(name));
  const { namespace = "" } = name;
  const { targetPersistentStatePVCName: target } = migration?.status?.migrationState ?? {};
  const targetClaim = target && knownObject(caches.claims.get({ namespace, name: target }));
  const vmiOf = (other: VirtualMachineInstanceMigration) =>
    knownObject(
      caches.vmis.get({
        namespace: text(other.metadata?.namespace),
        name: text(other.spec?.vmiName),
      }),
    );
  return {
    migration,
    vmi: vmi.vmi,
    pods: vmi.pods,
    claims: targetClaim ? [...vmi.claims, targetClaim] : vmi.claims,
    migrations: known(caches.migrations.list()),
    vmiOf,
    hasTargetPod: (other) => {
      const moved = vmiOf(other);
      const key = `${text(other.metadata?.namespace)}/${text(other.spec?.vmiName)}`;
      return (
        moved !== undefined &&
        known(caches.pods.byIndex("vmi", key)).some((pod) =>
          isTargetPodOf(pod, other, moved, names),
        )
      );
    },
    nodes: () => known(caches.nodes.list()),
    namespace: knownObject(caches.namespaces.get({ name: namespace })),
    policies: known(caches.migrationPolicies.list()) as readonly MigrationPolicy[],
    storageClasses: vmi.storageClasses,
    storageProfiles: vmi.storageProfiles,
    lookup: vmi.lookup,
    ...(vmi.grant && { grant: vmi.grant }),
  };
}

/** Only the interrupted migration of a guest with persistent state has a job; nobody else looks. */
async function readJob(
  { caches, client }: PartContext,
  name: ObjectName,
  signal: RequestOptions["signal"],
): Promise<JobObject | undefined> {
  const migration = knownObject(caches.migrations.get(name));
  const vmi = knownObject(caches.vmis.get(vmiNameOf(caches, name)));
  if (!migration || !vmi || isFinalMigration(migration) || !needsStateClaim(vmi)) return undefined;
  const job = { ...name, name: recoveryJobName(name.name) };
  try {
    return (await client.get(jobResource, job, { signal })) as JobObject;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

function watches({ caches, names }: PartContext): ControllerPart["watches"] {
  const { migrations, vmis, pods } = caches;
  return [
    sharedWatch(migrations),
    // A finished migration makes room for those that wait.
    sharedWatch(migrations, {
      keys: (migration) => (isFinalMigration(migration) ? pending(caches) : []),
    }),
    sharedWatch(vmis, {
      keys: ({ metadata }) =>
        seen(migrations.byIndex("vmi", `${text(metadata.namespace)}/${text(metadata.name)}`))
          .filter((migration) => !isFinalMigration(migration))
          .map(nameIn),
    }),
    sharedWatch(pods, {
      keys: ({ metadata }) => {
        const name = metadata.annotations?.[names.annotations.migrationJobName];
        return name === undefined ? [] : [{ namespace: text(metadata.namespace), name }];
      },
    }),
    ...syncedFirst([
      caches.nodes,
      caches.namespaces,
      caches.migrationPolicies,
      caches.claims,
      caches.storageClasses,
      caches.vms,
    ] as never[]),
  ];
}

/** Those that wait for a place, in the order in which they may take one. */
function pending({ migrations }: SharedCaches): readonly ObjectName[] {
  const born = ({ metadata }: KubeObject): string => text(metadata.creationTimestamp);
  return seen(migrations.list())
    .filter((migration) => phaseOf(migration) === "Pending")
    .toSorted(
      (one, other) =>
        migrationPriority(other) - migrationPriority(one) || born(one).localeCompare(born(other)),
    )
    .map(nameIn);
}

/** The first pass that sees a free place takes it, so the order of passes is the order of migrations. */
function priorityOf(migration: VirtualMachineInstanceMigration | undefined): Priority {
  if (!migration || !["", "Pending"].includes(phaseOf(migration))) return "high";
  const priority = migrationPriority(migration);
  if (priority >= queuePriority.systemCritical) return "high";
  return priority >= queuePriority.userTriggered ? "normal" : "low";
}

/** The objects that a cache has seen so far; it reports the others when they come. */
function seen<T>(list: KnownList<T>): readonly T[] {
  return whenKnown(() => known(list)) ?? [];
}

function nameIn({ metadata }: KubeObject): ObjectName {
  return { namespace: text(metadata.namespace), name: text(metadata.name) };
}
