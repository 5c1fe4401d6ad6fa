export { type NodePlanConfig, type NodeView, planNode } from "./plan-node.ts";
