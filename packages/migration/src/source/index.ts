export {
  isMigrationError,
  MigrationError,
  type MigrationErrorCode,
} from "../migration-error.ts";
export { classifyVolumes, type MigrationVolumes } from "./classify-volumes.ts";
export { type ConvergencePolicy, convergencePolicy } from "./convergence-policy.ts";
export { judge } from "./judge.ts";
export { judgeByTime, type MigrationMode, type TimedMigration } from "./judge-by-time.ts";
export { type MigrateFlag, singleCallFlags } from "./migration-flags.ts";
export type { MigrationOptions, StallDetection } from "./migration-options.ts";
export type {
  JobStats,
  MigrationPhase,
  MigrationProgress,
  WatchedProgress,
} from "./migration-progress.ts";
export { type MigrationUris, migrationPorts, migrationUris } from "./migration-uris.ts";
export { type MigrationPlan, planMigration } from "./plan-migration.ts";
export { refuseUnready } from "./refuse-unready.ts";
export {
  type MigrationInput,
  type MigrationParams,
  planSingleCall,
  type SingleCall,
} from "./single-call.ts";
export { type StallAction, stallAction } from "./stall-action.ts";
export {
  estimatedDowntimeMs,
  noIterations,
  type StallState,
  withBandwidth,
  withIteration,
} from "./stall-detector.ts";
export type { Verdict } from "./verdict.ts";
export { type WatchOptions, watchMigration } from "./watch-migration.ts";
