export { isBlockMigration } from "../is-block-migration.ts";
export {
  isMigrationError,
  MigrationError,
  type MigrationErrorCode,
} from "../migration-error.ts";
export { type ConvergencePolicy, convergencePolicy } from "./convergence-policy.ts";
export { copiedDisks } from "./copied-disks.ts";
export { type HandoverGrant, handoverGrant } from "./drive-grant.ts";
export {
  type DriveParts,
  driveMigration,
  type MigrationOutcome,
  type SourceMigration,
} from "./drive-migration.ts";
export type { AtSeam, DrivePlan, SourceParts, SourceSeam } from "./drive-parts.ts";
export { recoverPostCopy } from "./drive-recover.ts";
export { type SettledSource, type SettleOptions, settleSource } from "./drive-settle.ts";
export { type FollowSourceOptions, followSource, type WaitingSource } from "./follow-source.ts";
export { judge } from "./judge.ts";
export type { MigrationMode } from "./judge-by-time.ts";
export type { MigrateFlag } from "./migration-flags.ts";
export type { MigrationOptions, StallDetection } from "./migration-options.ts";
export type {
  DiskProgress,
  JobStats,
  MigrationPhase,
  MigrationProgress,
  WatchedProgress,
} from "./migration-progress.ts";
export { type MigrationUris, migrationPorts, migrationUris } from "./migration-uris.ts";
export { type MigrationPlan, planMigration } from "./plan-migration.ts";
export type { MigrationInput, MigrationParams } from "./single-call.ts";
export { type SupervisorParts, superviseByPlan } from "./supervise-by-plan.ts";
export {
  type SupervisedMigration,
  type SuperviseOptions,
  superviseMigration,
} from "./supervise-migration.ts";
export { devicesToUnplug, plugHostDevices, unplugHostDevices } from "./unplug-host-devices.ts";
export type { Verdict } from "./verdict.ts";
export { readVirtualSizes } from "./virtual-sizes.ts";
export { type WatchOptions, watchMigration } from "./watch-migration.ts";
