export { planWorkloadUpdate, type WorkloadPlan } from "./plan-workload-update.ts";
export type { LauncherPod, WorkloadConfig, WorkloadView } from "./workload-view.ts";
