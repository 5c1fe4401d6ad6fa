export { planWorkloadUpdate, type WorkloadPlan } from "./plan-workload-update.ts";
export {
  type WorkloadUpdateReconcilerOptions,
  workloadUpdateReconciler,
} from "./workload-update-reconciler.ts";
export type { LauncherPod, WorkloadConfig, WorkloadView } from "./workload-view.ts";
