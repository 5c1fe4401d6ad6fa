export type { GuestCheck, GuestCheckContext } from "./guest-check.ts";
export { guestControlChecks } from "./guest-control-checks.ts";
export type {
  MigrationCheck,
  MigrationCheckContext,
  MigrationCheckOptions,
  MigrationCheckSide,
} from "./migration-check.ts";
export { migrationChecks } from "./migration-checks.ts";
