export { planPool } from "./plan-pool.ts";
export { type PoolCaches, type PoolReconcilerOptions, poolReconciler } from "./pool-reconciler.ts";
export type {
  PoolConfig,
  PoolRevision,
  PoolView,
  SelectionPolicy,
  VirtualMachinePool,
  VmTemplate,
} from "./pool-view.ts";
export { victimsOf } from "./selection.ts";
