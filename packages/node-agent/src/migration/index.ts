export { isUnderWay, type LauncherWord, sourceAttempt } from "./launcher-attempt.ts";
export type { Listener } from "./listener.ts";
export { migrationAddress, migrationInterface } from "./migration-address.ts";
export { migrationCertificates } from "./migration-certificates.ts";
export type { MigrationService, SideOfMigration } from "./migration-service.ts";
export type {
  WayIn,
  WayInOptions,
  WayOut,
  WayOutOptions,
  WaySockets,
} from "./migration-way.ts";
export {
  movingUid,
  planSourceDuty,
  type SourceAct,
  type SourceDuty,
  type SourceView,
} from "./plan-source-duty.ts";
export {
  arrivedVmi,
  planTargetDuty,
  type TargetAct,
  type TargetDuty,
  type TargetView,
} from "./plan-target-duty.ts";
