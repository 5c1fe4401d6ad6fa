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
export { type LiveGrant, type LiveReadOptions, liveGrantView } from "./live-grant-view.ts";
export { planVmi, type VmiPlan } from "./plan-vmi.ts";
export { noMemory, type VmMemory, vmMemory } from "./vm-memory.ts";
export { claimIndexes, migrationIndexes, podIndexes, type VmiCaches } from "./vmi-caches.ts";
export type { VmiPlanConfig } from "./vmi-plan-config.ts";
export { type VmiReconcilerOptions, type VmiSources, vmiReconciler } from "./vmi-reconciler.ts";
export { type VmiSourcesOptions, vmiSources } from "./vmi-sources.ts";
export type { VmiView } from "./vmi-view.ts";
