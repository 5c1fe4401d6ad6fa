export {
  type AbortStatus,
  isAbortHandled,
  type MigratingDomain,
  type MigrationAttempt,
} from "../../migrating-domain.ts";
export {
  isMigrationError,
  MigrationError,
  type MigrationErrorCode,
} from "../../migration-error.ts";
export { beginAttempt, endAttempt, migrationUidOf } from "./migration-attempt.ts";
export { migrationOptionsFor } from "./migration-options-for.ts";
export { planSourcePass, type SourcePass, type SourcePassFacts } from "./plan-source-pass.ts";
export { planSourceStep, type SourceFacts, type SourceStep } from "./plan-source-step.ts";
export { type SourceStatus, type SourceStatusFacts, sourceStatus } from "./source-status.ts";
