import { wallTime } from "@virtkit/api/clock";
import type { VirtualMachineInstance, VirtualMachineInstanceReplicaSet } from "@virtkit/api/schema";
import type { ObjectName, RequestOptions } from "@virtkit/kube";
import { about } from "../plan/about.ts";
import { notSynced } from "../plan/not-synced.ts";
import { known, knownObject, type ObjectSource, whenKnown } from "../plan/object-source.ts";
import { type PlanRunner, type ReconcileAnswer, runPlan } from "../plan/run-plan.ts";
import { vmResources } from "../plan/vm-resources.ts";
import { planReplicaSet } from "./plan-replica-set.ts";
import type { ReplicaSetConfig, ReplicaSetView } from "./replica-set-view.ts";

/** Options of {@link replicaSetReconciler}. */
export interface ReplicaSetReconcilerOptions extends PlanRunner {
  readonly caches: {
    readonly replicaSets: ObjectSource<VirtualMachineInstanceReplicaSet>;
    readonly vmis: ObjectSource<VirtualMachineInstance>;
  };
  config(): ReplicaSetConfig;
  readonly wall?: () => Date;
}

/** Makes one pass over a replica set and carries out its plan. */
export function replicaSetReconciler(
  options: ReplicaSetReconcilerOptions,
): (replicaSet: ObjectName, request?: RequestOptions) => Promise<ReconcileAnswer> {
  const { caches, wall = wallTime } = options;
  return async (name, request = {}) => {
    const key = `${name.namespace}/${name.name}`;
    const view = whenKnown((): ReplicaSetView | "absent" => {
      const replicaSet = knownObject(caches.replicaSets.get(name));
      const vmis = known(caches.vmis.list({ namespace: name.namespace ?? "" }));
      return replicaSet ? { replicaSet, vmis } : "absent";
    });
    if (!view) throw notSynced("replica set", key);
    if (view === "absent") return {};
    const config = options.config();
    const now = wall().getTime();
    return runPlan((outcomes) => planReplicaSet(view, config, now, outcomes), options, {
      key,
      about: about(view.replicaSet, vmResources(config.names).replicaSets),
      request,
    });
  };
}
