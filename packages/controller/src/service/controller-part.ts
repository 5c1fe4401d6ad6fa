import type { Clock } from "@virtkit/api/clock";
import type { Names } from "@virtkit/api/names";
import type { Observers } from "@virtkit/api/observe";
import type { Random } from "@virtkit/api/random";
import type { KubeClient, ObjectName } from "@virtkit/kube";
import type { Reconciler, Watch } from "@virtkit/kube/controller";
import type { Priority } from "@virtkit/kube/queue";
import type { PlanRunner } from "../plan/run-plan.ts";
import type { VmiPlanConfig } from "../vmi/vmi-plan-config.ts";
import type { SharedCaches } from "./shared-caches.ts";

/** What a reconciler is assembled from. */
export interface PartContext extends Observers {
  /** For live reads. Its writes are refused once this process no longer leads. */
  readonly client: KubeClient;
  readonly caches: SharedCaches;
  readonly names: Names;
  /** The present configuration; it can change. */
  config(): VmiPlanConfig;
  /**
   * Where to carry out the plan for one object. `behindFor` says for how many milliseconds the
   * caches may still lag behind writes for it; nothing must be decided until then.
   */
  runner(object: ObjectName): PlanRunner & { readonly behindFor: number };
  readonly clock: Clock;
  readonly random: Random;
  wall(): Date;
}

/** One reconciler and the watches that trigger it. */
export interface ControllerPart {
  readonly watches: readonly Watch[];
  readonly reconcile: Reconciler;
  /** How many objects to work on at a time. By default 4. */
  readonly concurrency?: number;
  /** How soon an object is taken; see `ControllerOptions`. */
  priority?(object: ObjectName): Priority;
}

/** Creates a reconciler that uses the shared caches. */
export interface ControllerPartMaker {
  /** The name in logs and metrics. */
  readonly name: string;
  make(context: PartContext): ControllerPart;
}
