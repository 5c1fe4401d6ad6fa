import { wallTime } from "@virtkit/api/clock";
import type { ClusterConfig } from "@virtkit/api/config";
import type { VirtualMachineInstance, VirtualMachineInstanceMigration } from "@virtkit/api/schema";
import type { KubeObject, ObjectName, RequestOptions } from "@virtkit/kube";
import { about } from "../plan/about.ts";
import { notSynced } from "../plan/not-synced.ts";
import { nameOf } from "../plan/object-name.ts";
import { known, knownObject, type ObjectSource, whenKnown } from "../plan/object-source.ts";
import { nodeResource } from "../plan/resources.ts";
import { type PlanRunner, type ReconcileAnswer, runPlan } from "../plan/run-plan.ts";
import type { PodObject } from "../vmi/cluster-objects.ts";
import { type NodeEvacuationView, planNodeEvacuation } from "./plan-node-evacuation.ts";

/** The caches that show whether a node must be evacuated. */
export interface EvacuationCaches {
  readonly nodes: ObjectSource<KubeObject>;
  /** By the node that they run on. */
  readonly vmis: ObjectSource<VirtualMachineInstance, "node">;
  /** See `migrationIndexes`. */
  readonly migrations: ObjectSource<VirtualMachineInstanceMigration, "vmi">;
  /** See `podIndexes`. */
  readonly pods: ObjectSource<PodObject, "vmi">;
}

/** Options of {@link evacuationReconciler}. */
export interface EvacuationReconcilerOptions extends PlanRunner {
  readonly caches: EvacuationCaches;
  config(): ClusterConfig;
  readonly wall?: () => Date;
}

/** Looks at one node and creates migrations for the VMIs that must leave it. */
export function evacuationReconciler(
  options: EvacuationReconcilerOptions,
): (node: ObjectName, request?: RequestOptions) => Promise<ReconcileAnswer> {
  const { caches, wall = wallTime } = options;
  return async ({ name }, request = {}) => {
    const view = whenKnown(() => viewOf(caches, name));
    if (!view) throw notSynced("node", name);
    const config = options.config();
    const now = wall().getTime();
    return runPlan((outcomes) => planNodeEvacuation(view, config, now, outcomes), options, {
      key: name,
      about: about(view.node, nodeResource),
      request,
    });
  };
}

/** VMIs of a node that is gone may still be marked by an eviction. */
function viewOf(caches: EvacuationCaches, name: string): NodeEvacuationView {
  const vmis = known(caches.vmis.byIndex("node", name));
  const keys = vmis.map((vmi) => `${nameOf(vmi).namespace}/${nameOf(vmi).name}`);
  return {
    node: (knownObject(caches.nodes.get({ name })) ?? {
      metadata: { name },
    }) as NodeEvacuationView["node"],
    vmis,
    migrations: keys.flatMap((key) => known(caches.migrations.byIndex("vmi", key))),
    pods: keys.flatMap((key) => known(caches.pods.byIndex("vmi", key))),
  };
}
