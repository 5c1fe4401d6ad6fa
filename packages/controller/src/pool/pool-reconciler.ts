import { wallTime } from "@virtkit/api/clock";
import type { VirtualMachine, VirtualMachineInstance } from "@virtkit/api/schema";
import type { KubeObject, ObjectName, RequestOptions } from "@virtkit/kube";
import { about } from "../plan/about.ts";
import { notSynced } from "../plan/not-synced.ts";
import { nameOf, uidOf } from "../plan/object-name.ts";
import { known, knownObject, type ObjectSource, whenKnown } from "../plan/object-source.ts";
import { type PlanRunner, type ReconcileAnswer, runPlan } from "../plan/run-plan.ts";
import { vmResources } from "../plan/vm-resources.ts";
import { usedClaims } from "../vm/used-names.ts";
import { planPool } from "./plan-pool.ts";
import type { PoolConfig, PoolRevision, PoolView, VirtualMachinePool } from "./pool-view.ts";

/** The caches that a view of a pool is built from. */
export interface PoolCaches {
  readonly pools: ObjectSource<VirtualMachinePool>;
  readonly vms: ObjectSource<VirtualMachine>;
  readonly vmis: ObjectSource<VirtualMachineInstance>;
  readonly revisions: ObjectSource<PoolRevision, "controller">;
  readonly claims: ObjectSource<object>;
  readonly dataVolumes?: ObjectSource<KubeObject> | undefined;
}

/** Options of {@link poolReconciler}. */
export interface PoolReconcilerOptions extends PlanRunner {
  readonly caches: PoolCaches;
  config(): PoolConfig;
  readonly wall?: () => Date;
}

/** Makes one pass over a pool and carries out its plan. */
export function poolReconciler(
  options: PoolReconcilerOptions,
): (pool: ObjectName, request?: RequestOptions) => Promise<ReconcileAnswer> {
  const { caches, wall = wallTime } = options;
  return async (name, request = {}) => {
    const key = `${name.namespace}/${name.name}`;
    const view = whenKnown(() => viewOf(caches, name));
    if (!view) throw notSynced("pool", key);
    if (view === "absent") return {};
    const config = options.config();
    const now = wall().getTime();
    return runPlan((outcomes) => planPool(view, config, now, outcomes), options, {
      key,
      about: about(view.pool, vmResources(config.names).pools),
      request,
    });
  };
}

function viewOf(caches: PoolCaches, name: ObjectName): PoolView | "absent" {
  const pool = knownObject(caches.pools.get(name));
  const { namespace = "" } = name;
  const vms = known(caches.vms.list({ namespace }));
  if (!pool) return "absent";
  const named = <T>(source: ObjectSource<T> | undefined, names: readonly string[]): readonly T[] =>
    source ? names.flatMap((each) => knownObject(source.get({ namespace, name: each })) ?? []) : [];
  const used = vms.flatMap((vm) => usedClaims(vm));
  return {
    pool,
    vms,
    vmis: named(
      caches.vmis,
      vms.map((vm) => nameOf(vm).name),
    ),
    claims: named(caches.claims, used) as readonly KubeObject[],
    dataVolumes: named(caches.dataVolumes, used),
    revisions: known(caches.revisions.byIndex("controller", uidOf(pool))),
  };
}
