export { type CachedViewOptions, cachedVmiView } from "./cached-vmi-view.ts";
export type {
  CdiConfigObject,
  ClaimObject,
  ContainerSeen,
  DataVolumeObject,
  LabelledObject,
  PodObject,
  StorageClassObject,
  StorageProfileObject,
} from "./cluster-objects.ts";
export type { GrantRules, GrantView } from "./grant-view.ts";
export { type LiveReadOptions, liveGrantView, type VmMemory } from "./live-grant-view.ts";
export { planVmi, type VmiPlan } from "./plan-vmi.ts";
export { claimIndexes, migrationIndexes, podIndexes, type VmiCaches } from "./vmi-caches.ts";
export type { VmiPlanConfig } from "./vmi-plan-config.ts";
export { type VmiReconcilerOptions, type VmiSources, vmiReconciler } from "./vmi-reconciler.ts";
export type { VmiView } from "./vmi-view.ts";
