import { wallTime } from "@virtkit/api/clock";
import type { ObjectName, RequestOptions } from "@virtkit/kube";
import { type PlanRunner, type ReconcileAnswer, runPlan } from "../plan/run-plan.ts";
import type { NodePlanConfig, NodeView } from "./node-view.ts";
import { planNode } from "./plan-node.ts";

/** Options of {@link nodeReconciler}. */
export interface NodeReconcilerOptions extends PlanRunner {
  /** Fetches what is known about a node, all of it live except the node itself. */
  view(node: string, options: RequestOptions): Promise<NodeView>;
  readonly config: NodePlanConfig;
  readonly wall?: () => Date;
}

/** Makes one pass over a node and carries out its plan. */
export function nodeReconciler(
  options: NodeReconcilerOptions,
): (node: ObjectName, request?: RequestOptions) => Promise<ReconcileAnswer> {
  const { config, wall = wallTime } = options;
  return async ({ name }, request = {}) => {
    const view = await options.view(name, request);
    const now = wall().getTime();
    return runPlan((outcomes) => planNode(view, config, now, outcomes), options, {
      key: name,
      about: view.node,
      request,
    });
  };
}
