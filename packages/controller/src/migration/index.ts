export { isTargetPodOf, type MigrationPlanConfig, type Requeue } from "./migration-pass.ts";
export { isFinalMigration } from "./migration-phase.ts";
export {
  type MigrationReconcilerOptions,
  type MigrationSources,
  migrationReconciler,
} from "./migration-reconciler.ts";
export type { JobObject, MigrationView } from "./migration-view.ts";
export { type MigrationPlan, planMigration } from "./plan-migration.ts";
export { jobResource, recoveryJobName } from "./recovery-job.ts";
