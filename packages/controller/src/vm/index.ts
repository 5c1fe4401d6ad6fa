export { cachedVmView } from "./cached-vm-view.ts";
export { cloneRequests } from "./data-volumes.ts";
export { mayClone } from "./may-clone.ts";
export { planVm } from "./plan-vm.ts";
export type { VmPlan } from "./settle-vm.ts";
export type { VmCaches } from "./vm-caches.ts";
export { type VmReconcilerOptions, vmReconciler } from "./vm-reconciler.ts";
export type {
  CloneRequest,
  ControllerRevision,
  TypeObject,
  VmConfig,
  VmExpectations,
  VmGrantView,
  VmOptions,
  VmPassView,
} from "./vm-view.ts";
