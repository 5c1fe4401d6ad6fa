export { type HandoverGrant, handoverGrant } from "./drive-grant.ts";
export {
  type DriveParts,
  driveMigration,
  type MigrationOutcome,
  type SourceMigration,
} from "./drive-migration.ts";
export type { AtSeam, DrivePlan, SourceParts, SourceSeam } from "./drive-parts.ts";
export { recoverPostCopy } from "./drive-recover.ts";
export {
  followSource,
  type SettledSource,
  type SettleOptions,
  settleSource,
} from "./drive-settle.ts";
