export { victims } from "./members.ts";
export { planReplicaSet } from "./plan-replica-set.ts";
export {
  type ReplicaSetReconcilerOptions,
  replicaSetReconciler,
} from "./replica-set-reconciler.ts";
export type { ReplicaSetConfig, ReplicaSetView } from "./replica-set-view.ts";
