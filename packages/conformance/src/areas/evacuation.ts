import { type NodeEvacuationView, planNodeEvacuation } from "@virtkit/controller/evacuation";
import type { BatchFunction } from "../batch/batch-area.ts";
import { reconcileCase } from "../reconcile/reconcile-case.ts";
import { sortedEvents } from "../reconcile/sorted-events.ts";

/** The functions of area `evacuation`. */
export const functions: Readonly<Record<string, BatchFunction>> = {
  reconcile: async (input, context) => {
    const answer = await reconcileCase<NodeEvacuationView["node"]>(input, context, {
      plural: "nodes",
      plan: ({ subject, cluster, config, now, expected }, outcomes) => {
        const view: NodeEvacuationView = {
          node: subject,
          vmis: cluster.cached("virtualMachineInstances"),
          migrations: cluster.cached("virtualMachineInstanceMigrations"),
          pods: cluster.cached("pods"),
          expected: expected("migration") === "creation" ? "creation" : undefined,
        };
        return planNodeEvacuation(view, config, now, outcomes);
      },
    });
    return sortedEvents(answer);
  },
};
