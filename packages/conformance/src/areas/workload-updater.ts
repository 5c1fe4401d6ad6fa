import { at } from "@virtkit/api/shape";
import { planWorkloadUpdate, type WorkloadView } from "@virtkit/controller/workload-update";
import type { BatchFunction } from "../batch/batch-area.ts";
import { reconcileCase } from "../reconcile/reconcile-case.ts";
import { sortedEvents } from "../reconcile/sorted-events.ts";
import { spinning } from "./quirks.ts";

/** The image of the launchers in the recorded cluster. */
const launcherImage = "virt-launcher:v1";

/** The functions of area `workload-updater`. */
export const functions: Readonly<Record<string, BatchFunction>> = {
  reconcile: async (input, context) => {
    const batch = Date.parse(String(at(context, "flags", "lastDeletionBatch")));
    const answer = await reconcileCase<WorkloadView["kubevirt"]>(input, context, {
      plural: "kubevirts",
      plan: ({ subject, cluster, config, now, expected }, outcomes) => {
        const view: WorkloadView = {
          kubevirt: subject,
          vmis: cluster.cached("virtualMachineInstances"),
          migrations: cluster.cached("virtualMachineInstanceMigrations"),
          pods: cluster.cached("pods"),
          launcherImage,
          lastEviction: Number.isNaN(batch) ? undefined : batch,
          expected: expected("migration") === "creation" ? "creation" : undefined,
        };
        return planWorkloadUpdate(view, config, now, outcomes);
      },
    });
    return spinning(sortedEvents(answer));
  },
};
