export {
  isMigrationError,
  MigrationError,
  type MigrationErrorCode,
} from "../migration-error.ts";
export {
  acceptableCompletionSeconds,
  isOutOfTime,
  migrationDataSize,
} from "./completion-timeout.ts";
export { type DirtyCurve, type DirtyMeasure, dirtyCurve } from "./dirty-curve.ts";
export { type Encryption, encryptionOf } from "./encryption-of.ts";
export {
  type EvacuatedNode,
  type EvacuatedPod,
  type EvacuationPlan,
  type EvacuationScene,
  planEvacuation,
} from "./evacuation.ts";
export {
  type ForecastEnd,
  type ForecastInput,
  type ForecastPolicy,
  forecastMigration,
  type MigrationForecast,
} from "./forecast-migration.ts";
export {
  liveMigratable,
  type Migratability,
  type MigratabilityFacts,
  type MigrationObstacle,
  migrationObstacles,
} from "./live-migratable.ts";
export { matchPolicy } from "./match-policy.ts";
export {
  applyPolicy,
  clusterMigrationOptions,
  type ResolvedOptions,
  resolveMigrationOptions,
} from "./migration-options.ts";
export { migrationPriority, queuePriority, requeueDelaySeconds } from "./migration-priority.ts";
export {
  isPendingUnschedulable,
  type PendingPod,
  type PendingPodTimeouts,
  pendingPodTimeouts,
} from "./pending-pod-timeouts.ts";
