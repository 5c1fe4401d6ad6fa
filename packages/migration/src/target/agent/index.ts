export { isBlockMigration } from "../../is-block-migration.ts";
export type { MigratingDomain, MigrationAttempt } from "../../migrating-domain.ts";
export {
  isMigrationError,
  MigrationError,
  type MigrationErrorCode,
} from "../../migration-error.ts";
export { cleanedUp, finalized } from "./after-step.ts";
export {
  type HotChange,
  type HotChangeFacts,
  type HotChangePlan,
  planHotChanges,
  withHotChanges,
} from "./hot-changes.ts";
export {
  planTargetStep,
  type TargetFacts,
  type TargetPlan,
  type TargetStep,
} from "./plan-target-step.ts";
export { type TargetStatus, type TargetStatusFacts, targetStatus } from "./target-status.ts";
