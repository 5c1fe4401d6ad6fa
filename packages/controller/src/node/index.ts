export { launcherContainers, proofsFromNode, proofsFromPod } from "@virtkit/api/proofs";
export { type NodeReconcilerOptions, nodeReconciler } from "./node-reconciler.ts";
export type { NodePlanConfig, NodeView } from "./node-view.ts";
export { planNode } from "./plan-node.ts";
