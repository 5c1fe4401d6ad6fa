/** Files of the tier `host` that need the host to themselves. */
export const alone = [
  // Compares the mounts, rules and cgroups of the whole host before and after.
  "packages/cli/src/commands/refusals.host.test.ts",
  // Compares the links, routes and rules of the whole host before and after.
  "packages/local/src/local-network.host.test.ts",
  // Switches a setting of the host's kernel.
  "packages/cli/src/commands/migrate.host.test.ts",
  // Compares the duration of a migration with a forecast.
  "packages/local/src/moves.host.test.ts",
];

/**
 * Small files that take long. Vitest orders files that it has not run here before by size, so it
 * would start them last, and at the end of the tier the other lanes would be idle.
 */
export const long = [
  "packages/migration/src/migration-faults.host.test.ts",
  "packages/migration/src/live-migration.host.test.ts",
  "packages/migration/src/copied-disk-faults.host.test.ts",
  "packages/migration/src/proxy/silent-network.host.test.ts",
  "packages/launcher/src/migration/migration-checks.host.test.ts",
  "packages/launcher/src/migration/joined-migration.host.test.ts",
  "packages/launcher/src/migration/agent-faults.host.test.ts",
  "packages/launcher/src/process/console-log.host.test.ts",
  "packages/local/src/local-cgroup.host.test.ts",
  "packages/cli/src/commands/recovery.host.test.ts",
  "packages/cli/src/commands/ends.host.test.ts",
  "packages/cli/src/commands/run-probes.host.test.ts",
  "packages/cli/src/commands/migrate-disks.host.test.ts",
  "tools/start.host.test.mjs",
];
