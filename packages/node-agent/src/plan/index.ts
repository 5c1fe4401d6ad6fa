export type { NodePlan, Requeue } from "./node-plan.ts";
export type { Checksums, NodeHook, NodeStep, StepOutcome } from "./node-step.ts";
export type {
  BackupTracker,
  LauncherState,
  LauncherView,
  NodeDomain,
  NodeView,
} from "./node-view.ts";
export type { PassMemory } from "./pass-memory.ts";
export { planNode } from "./plan-node.ts";
