import type { PlannedEvent } from "@virtkit/api/status";
import type { NodeStep } from "./node-step.ts";
import type { PassMemory } from "./pass-memory.ts";

/** When to check again: after this long, or soon and then less often. */
export type Requeue = { readonly afterSeconds: number } | "rateLimited";

/** What to do for a VMI on its node, and what to report about it. Plain data. */
export interface NodePlan {
  /** In order. Steps without an outcome yet are planned as if they succeed. */
  readonly steps: readonly NodeStep[];
  readonly events: readonly PlannedEvent[];
  readonly requeue: readonly Requeue[];
  readonly memory: PassMemory;
}
