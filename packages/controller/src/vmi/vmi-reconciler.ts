import { wallTime } from "@virtkit/api/clock";
import type { ObjectName, RequestOptions } from "@virtkit/kube";
import { ControllerError } from "../plan/controller-error.ts";
import { type PlanRunner, type ReconcileAnswer, runPlan } from "../plan/run-plan.ts";
import { planVmi } from "./plan-vmi.ts";
import type { VmiPlanConfig } from "./vmi-plan-config.ts";
import type { VmiView } from "./vmi-view.ts";

/** Where a reconciler gets VMIs from. */
export interface VmiSources {
  /** What caches know; undefined as long as they have not seen everything. */
  cached(vmi: ObjectName): VmiView | undefined;
  /** The same, with all that decides about the run grant read from the API server; see `liveGrantView`. */
  live(vmi: ObjectName, options: RequestOptions): Promise<VmiView>;
}

/** Options of {@link vmiReconciler}. */
export interface VmiReconcilerOptions extends PlanRunner {
  readonly sources: VmiSources;
  /** As it is now: configurations change. */
  config(): VmiPlanConfig;
  readonly wall?: () => Date;
}

/** Looks at one VMI and carries out its plan; reads caches if they are enough, otherwise the API server. */
export function vmiReconciler(
  options: VmiReconcilerOptions,
): (vmi: ObjectName, request?: RequestOptions) => Promise<ReconcileAnswer> {
  const { sources, wall = wallTime } = options;
  return async (vmi, { signal } = {}) => {
    const key = `${vmi.namespace}/${vmi.name}`;
    const cached = sources.cached(vmi);
    if (!cached) {
      const message = `not everything around VMI ${key} has been seen yet`;
      throw new ControllerError("CONTROLLER_NOT_SYNCED", message, { path: key });
    }
    const config = options.config();
    const now = wall().getTime();
    const { needsLiveRead } = planVmi(cached, config, now);
    const view = needsLiveRead ? await sources.live(vmi, { signal }) : cached;
    return runPlan((outcomes) => planVmi(view, config, now, outcomes), options, {
      key,
      about: view.vmi,
      signal,
    });
  };
}
