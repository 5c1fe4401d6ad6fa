import type { KubeObject, RequestOptions } from "@virtkit/kube";
import type { Plan, PlannedWrite } from "./plan.ts";
import { failedWrite, type WriteOutcome } from "./write-outcome.ts";

/** Carries out one write: an API server, or a fake one in a test. Rejects with a `KubeError`. */
export interface PlanTarget {
  write(write: PlannedWrite, options?: RequestOptions): Promise<KubeObject | undefined>;
}

/**
 * Carries out a plan, one write after the other.
 *
 * `decide` is pure: it takes the outcomes of the writes so far, in order, and assumes that all
 * others succeed. It is called again only if a write is refused, and then returns what follows from
 * that; the writes before the refused one must stay the same. Returns the plan as carried out.
 */
export async function carryOut<P extends Plan>(
  decide: (outcomes: readonly WriteOutcome[]) => P,
  target: PlanTarget,
  options: RequestOptions = {},
): Promise<P> {
  const outcomes: WriteOutcome[] = [];
  let plan = decide(outcomes);
  for (let write = plan.writes[0]; write; write = plan.writes[outcomes.length]) {
    const outcome = await attempt(write, target, options);
    outcomes.push(outcome);
    if (outcome.kind === "refused") plan = decide([...outcomes]);
  }
  return plan;
}

async function attempt(
  write: PlannedWrite,
  target: PlanTarget,
  options: RequestOptions,
): Promise<WriteOutcome> {
  try {
    return { kind: "done", object: await target.write(write, options) };
  } catch (error) {
    options.signal?.throwIfAborted();
    return failedWrite(write, error);
  }
}
