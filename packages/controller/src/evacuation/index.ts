export {
  type EvacuationCaches,
  type EvacuationReconcilerOptions,
  evacuationReconciler,
} from "./evacuation-reconciler.ts";
export { type NodeEvacuationView, planNodeEvacuation } from "./plan-node-evacuation.ts";
