import { planReplicaSet, type ReplicaSetView } from "@virtkit/controller/replicaset";
import type { BatchFunction } from "../batch/batch-area.ts";
import { anyOf } from "../reconcile/any-of.ts";
import { reconcileCase } from "../reconcile/reconcile-case.ts";
import { sortedEvents } from "../reconcile/sorted-events.ts";

/** The functions of area `replicaset`. */
export const functions: Readonly<Record<string, BatchFunction>> = {
  reconcile: async (input, context) => {
    const answer = await reconcileCase<ReplicaSetView["replicaSet"]>(input, context, {
      plural: "virtualMachineInstanceReplicaSets",
      plan: ({ subject, cluster, config, now, expected }, outcomes) => {
        const vmis = cluster.cached<ReplicaSetView["vmis"][number]>("virtualMachineInstances");
        const view: ReplicaSetView = { replicaSet: subject, vmis, expected: expected("vmi") };
        return planReplicaSet(view, config, now, outcomes);
      },
    });
    return sortedEvents(anyOf(answer, context));
  },
};
