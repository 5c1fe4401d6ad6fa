import { type PoolView, planPool, type VirtualMachinePool } from "@virtkit/controller/pool";
import type { BatchFunction } from "../batch/batch-area.ts";
import { anyOf } from "../reconcile/any-of.ts";
import { type Reconciler, reconcileCase } from "../reconcile/reconcile-case.ts";
import { sortedEvents } from "../reconcile/sorted-events.ts";

/** How cases of area `pool` are answered. */
export const poolReconciler: Reconciler<VirtualMachinePool> = {
  plural: "virtualMachinePools",
  plan: ({ subject, cluster, config, now, expected }, outcomes) => {
    const view: PoolView = {
      pool: subject,
      vms: cluster.cached("virtualMachines"),
      vmis: cluster.cached("virtualMachineInstances"),
      dataVolumes: cluster.cached("dataVolumes"),
      claims: cluster.cached("persistentVolumeClaims"),
      revisions: cluster.cached("controllerRevisions"),
      expected: expected("vm"),
    };
    return planPool(view, config, now, outcomes);
  },
};

/** The functions of area `pool`. */
export const functions: Readonly<Record<string, BatchFunction>> = {
  reconcile: async (input, context) => {
    const answer = await reconcileCase(input, context, poolReconciler);
    return sortedEvents(anyOf(answer, context));
  },
};
