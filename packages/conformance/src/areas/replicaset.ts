import { planReplicaSet, type ReplicaSetView } from "@virtkit/controller/replicaset";
import type { BatchFunction } from "../batch/batch-area.ts";
import { anyOf } from "../reconcile/any-of.ts";
import { type Reconciler, reconcileCase } from "../reconcile/reconcile-case.ts";
import { sortedEvents } from "../reconcile/sorted-events.ts";

/** How cases of area `replicaset` are answered. */
export const replicaSetReconciler: Reconciler<ReplicaSetView["replicaSet"]> = {
  plural: "virtualMachineInstanceReplicaSets",
  plan: ({ subject, cluster, config, now, expected }, outcomes) => {
    const vmis = cluster.cached<ReplicaSetView["vmis"][number]>("virtualMachineInstances");
    const view: ReplicaSetView = { replicaSet: subject, vmis, expected: expected("vmi") };
    return planReplicaSet(view, config, now, outcomes);
  },
};

/** The functions of area `replicaset`. */
export const functions: Readonly<Record<string, BatchFunction>> = {
  reconcile: async (input, context) => {
    const answer = await reconcileCase(input, context, replicaSetReconciler);
    return sortedEvents(anyOf(answer, context));
  },
};
