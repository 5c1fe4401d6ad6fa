import { wallTime } from "@virtkit/api/clock";
import { apiVersionOf, type ObjectName, type RequestOptions } from "@virtkit/kube";
import { ControllerError } from "../plan/controller-error.ts";
import { type PlanRunner, type ReconcileAnswer, runPlan } from "../plan/run-plan.ts";
import { vmResources } from "../plan/vm-resources.ts";
import type { MigrationPlanConfig } from "./migration-pass.ts";
import type { MigrationView } from "./migration-view.ts";
import { planMigration } from "./plan-migration.ts";

/** Where a reconciler gets migrations from. */
export interface MigrationSources {
  /** What the caches know; undefined until they have synced. */
  cached(migration: ObjectName): MigrationView | undefined;
  /**
   * The same, with everything that decides about the run grant read from the API server; see
   * `liveGrantView`.
   */
  live(migration: ObjectName, options: RequestOptions): Promise<MigrationView>;
}

/** Options of {@link migrationReconciler}. */
export interface MigrationReconcilerOptions extends PlanRunner {
  readonly sources: MigrationSources;
  /** The present configuration; it can change. */
  config(): MigrationPlanConfig;
  readonly wall?: () => Date;
}

/** Objects from lists do not have a kind. */
function kindOf({ cluster }: MigrationPlanConfig): { apiVersion: string; kind: string } {
  const { migrations } = vmResources(cluster.names);
  return { apiVersion: apiVersionOf(migrations), kind: migrations.kind };
}

/**
 * Makes one pass over a migration and carries out its plan. Reads the API server where caches are
 * not enough.
 */
export function migrationReconciler(
  options: MigrationReconcilerOptions,
): (migration: ObjectName, request?: RequestOptions) => Promise<ReconcileAnswer> {
  const { sources, wall = wallTime } = options;
  return async (migration, request = {}) => {
    const key = `${migration.namespace}/${migration.name}`;
    const cached = sources.cached(migration);
    if (!cached) {
      const message = `the caches have not synced everything around migration ${key} yet`;
      throw new ControllerError("CONTROLLER_NOT_SYNCED", message, { path: key });
    }
    const config = options.config();
    const now = wall().getTime();
    const { needsLiveRead } = planMigration(cached, config, now);
    const view = needsLiveRead ? await sources.live(migration, request) : cached;
    return await runPlan((outcomes) => planMigration(view, config, now, outcomes), options, {
      key,
      about: view.migration && { ...view.migration, ...kindOf(config) },
      request,
    });
  };
}
