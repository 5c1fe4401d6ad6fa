export { cloneRequests } from "./data-volumes.ts";
export { planVm } from "./plan-vm.ts";
export type { VmPlan } from "./settle-vm.ts";
export type {
  CloneRequest,
  ControllerRevision,
  TypeObject,
  VmConfig,
  VmExpectations,
  VmOptions,
  VmPassView,
} from "./vm-view.ts";
