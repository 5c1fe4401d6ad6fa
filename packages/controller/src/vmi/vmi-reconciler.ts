import { wallTime } from "@virtkit/api/clock";
import type { ObjectName, RequestOptions } from "@virtkit/kube";
import { ControllerError } from "../plan/controller-error.ts";
import { decideFrom, type PlanRunner, type ReconcileAnswer, runPlan } from "../plan/run-plan.ts";
import { planVmi } from "./plan-vmi.ts";
import type { VmiPlanConfig } from "./vmi-plan-config.ts";
import type { VmiView } from "./vmi-view.ts";

/** Where a reconciler gets VMIs from. */
export interface VmiSources {
  /** What the caches know; undefined until they have synced. */
  cached(vmi: ObjectName): VmiView | undefined;
  /**
   * The same, with everything that decides about the run grant and about what is deleted read from
   * the API server; see `liveGrantView`. That includes migrations, if the cache does not show that
   * of a target Pod.
   */
  live(vmi: ObjectName, options: RequestOptions): Promise<VmiView>;
}

/** Options of {@link vmiReconciler}. */
export interface VmiReconcilerOptions extends PlanRunner {
  readonly sources: VmiSources;
  /** The present configuration; it can change. */
  config(): VmiPlanConfig;
  readonly wall?: () => Date;
}

/**
 * Makes one pass over a VMI and carries out its plan. Reads the API server where caches are not
 * enough.
 */
export function vmiReconciler(
  options: VmiReconcilerOptions,
): (vmi: ObjectName, request?: RequestOptions) => Promise<ReconcileAnswer> {
  const { sources, wall = wallTime } = options;
  return async (vmi, request = {}) => {
    const key = `${vmi.namespace}/${vmi.name}`;
    const cached = sources.cached(vmi);
    if (!cached) {
      const message = `the caches have not synced everything around VMI ${key} yet`;
      throw new ControllerError("CONTROLLER_NOT_SYNCED", message, { path: key });
    }
    const config = options.config();
    const now = wall().getTime();
    const first = planVmi(cached, config, now);
    const view = first.needsLiveRead ? await sources.live(vmi, request) : cached;
    const decide = decideFrom(view === cached ? first : undefined, (outcomes) =>
      planVmi(view, config, now, outcomes),
    );
    return runPlan(decide, options, { key, about: view.vmi, request });
  };
}
