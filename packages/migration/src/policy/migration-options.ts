import type { ClusterConfig } from "@virtkit/api/config";
import type {
  ExperimentalMigrationOptions,
  MigrationPolicy,
  MigrationPolicySpec,
  VirtualMachineInstance,
  VMIMConfigurationOptions,
} from "@virtkit/api/schema";
import { isSet } from "@virtkit/api/shape";
import { matchPolicy } from "./match-policy.ts";
import { readAmount } from "./read-amount.ts";

/** What a migration of a VMI may do, and which policy says so. */
export interface ResolvedOptions {
  readonly options: VMIMConfigurationOptions;
  /** The policy that applies, if one does. */
  readonly policy: MigrationPolicy | undefined;
}

const clusterFields = [
  "allowAutoConverge",
  "allowPostCopy",
  "allowWorkloadDisruption",
  "completionTimeoutPerGiB",
  "disableTLS",
  "matchSELinuxLevelOnMigration",
  "maxDowntimeMs",
  "network",
  "nodeDrainTaintKey",
  "parallelMigrationsPerCluster",
  "parallelOutboundMigrationsPerNode",
  "progressTimeout",
  "unsafeMigrationOverride",
  "utilityVolumesTimeout",
] as const satisfies readonly (keyof VMIMConfigurationOptions)[];

/** The cluster's own options, for migrations without a policy. */
export function clusterMigrationOptions({ migrations }: ClusterConfig): VMIMConfigurationOptions {
  const path = "configuration.migrations.bandwidthPerMigration";
  const bandwidth = readAmount(migrations.bandwidthPerMigration, path);
  return { ...pick(migrations, clusterFields), bandwidthPerMigration: bandwidth.toString() };
}

const policyFields = [
  "allowAutoConverge",
  "allowPostCopy",
  "allowWorkloadDisruption",
  "completionTimeoutPerGiB",
  "maxDowntimeMs",
] as const satisfies readonly (keyof MigrationPolicySpec)[];

/**
 * The options with the settings of a policy. A policy that allows post-copy and says nothing about disruption
 * allows that as well, because it used to be one setting. Does not change its arguments.
 */
export function applyPolicy(
  options: VMIMConfigurationOptions,
  policy: MigrationPolicySpec,
): VMIMConfigurationOptions {
  const { allowPostCopy, bandwidthPerMigration, experimental } = policy;
  const applied: VMIMConfigurationOptions = { ...options };
  if (isSet(allowPostCopy)) applied.allowWorkloadDisruption = allowPostCopy;
  Object.assign(applied, pick(policy, policyFields));
  if (isSet(bandwidthPerMigration)) {
    const amount = readAmount(bandwidthPerMigration, "spec.bandwidthPerMigration");
    applied.bandwidthPerMigration = amount.toString();
  }
  if (experimental) applied.experimental = mergeExperimental(options.experimental, experimental);
  return applied;
}

function mergeExperimental(
  base: ExperimentalMigrationOptions | undefined,
  { stallDetector, compression }: ExperimentalMigrationOptions,
): ExperimentalMigrationOptions {
  const merged: ExperimentalMigrationOptions = { ...base };
  if (stallDetector) merged.stallDetector = { ...base?.stallDetector, ...present(stallDetector) };
  if (isSet(compression)) merged.compression = compression;
  return merged;
}

/** The options for migrating a VMI: the cluster's, overridden by those of the matching policy. */
export function resolveMigrationOptions(
  vmi: VirtualMachineInstance,
  namespaceLabels: Readonly<Record<string, string>> | undefined,
  policies: readonly MigrationPolicy[],
  config: ClusterConfig,
): ResolvedOptions {
  const options = clusterMigrationOptions(config);
  const policy = matchPolicy(policies, vmi?.metadata?.labels ?? undefined, namespaceLabels);
  return { options: policy ? applyPolicy(options, policy.spec) : options, policy };
}

function present<T extends object>(fields: T): Partial<T> {
  return pick(fields, Object.keys(fields) as (keyof T)[]);
}

function pick<T extends object, K extends keyof T>(source: T, names: readonly K[]): Partial<T> {
  const picked: Partial<T> = {};
  for (const name of names) if (isSet(source[name])) picked[name] = source[name];
  return picked;
}
