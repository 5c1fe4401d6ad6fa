import type { PlannedEvent } from "@virtkit/api/status";
import type { NodeStep } from "./node-step.ts";
import type { PassMemory } from "./pass-memory.ts";

/** When to look again: after so long, or soon and later each time. */
export type Requeue = { readonly afterSeconds: number } | "rateLimited";

/** What is to be done for a VMI on its node, and what is to be told of it. Plain data. */
export interface NodePlan {
  /** One after the other. Those for which there is no outcome yet are planned as if they succeed. */
  readonly steps: readonly NodeStep[];
  readonly events: readonly PlannedEvent[];
  readonly requeue: readonly Requeue[];
  readonly memory: PassMemory;
}
