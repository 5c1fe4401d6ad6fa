import { type ClusterConfig, readFactor } from "@virtkit/api/config";
import type {
  StallDetectorOptions,
  VirtualMachineInstance,
  VMIMConfigurationOptions,
} from "@virtkit/api/schema";
import { MigrationError } from "../../migration-error.ts";
import { guardVmi } from "../../policy/guard-vmi.ts";
import { clusterMigrationOptions } from "../../policy/migration-options.ts";
import { readAmount } from "../../policy/read-amount.ts";
import type { MigrationOptions, StallDetection } from "../migration-options.ts";

/** KubeVirt's number; QEMU's own default is 2. */
const parallelThreads = 8;

/**
 * The options with which the source's launcher migrates a VMI: those that the controller resolved, or
 * the cluster's. What is missing in them is taken from the cluster, too.
 *
 * @throws MigrationError `MIGRATION_INPUT_INVALID` for a factor that is not a number,
 * `MIGRATION_QUANTITY_INVALID` for a bandwidth that is not an amount.
 */
export function migrationOptionsFor(
  vmi: VirtualMachineInstance,
  config: ClusterConfig,
): MigrationOptions {
  return guardVmi(vmi, () => optionsFor(vmi, config));
}

function optionsFor(vmi: VirtualMachineInstance, config: ClusterConfig): MigrationOptions {
  const options = resolved(vmi, config);
  const { compression, stallDetector } = options.experimental ?? {};
  const isDetecting = config.gate("MigrationStallDetection");
  return {
    bandwidth: readAmount(options.bandwidthPerMigration, bandwidthPath).toString(),
    progressTimeout: options.progressTimeout,
    completionTimeoutPerGiB: options.completionTimeoutPerGiB,
    maxDowntimeMs: options.maxDowntimeMs,
    unsafe: options.unsafeMigrationOverride,
    allowAutoConverge: options.allowAutoConverge,
    allowPostCopy: options.allowPostCopy,
    allowWorkloadDisruption: options.allowWorkloadDisruption ?? options.allowPostCopy,
    ...(hasSpareCpus(vmi) && { parallelThreads }),
    ...(compression !== undefined && { compression }),
    ...(isDetecting && { stallDetection: stallDetection(stallDetector ?? {}) }),
  };
}

/** What is used if even the cluster's options lack it. */
const defaults = {
  bandwidthPerMigration: "0",
  progressTimeout: 150,
  completionTimeoutPerGiB: 150,
  maxDowntimeMs: 900,
  unsafeMigrationOverride: false,
  allowAutoConverge: false,
  allowPostCopy: false,
} as const satisfies VMIMConfigurationOptions;

type Resolved = VMIMConfigurationOptions &
  Required<Pick<VMIMConfigurationOptions, keyof typeof defaults>>;

function resolved({ status }: VirtualMachineInstance, config: ClusterConfig): Resolved {
  const cluster = clusterMigrationOptions(config);
  const own = status?.migrationState?.migrationConfiguration ?? undefined;
  if (!own) return { ...defaults, ...withoutUnset(cluster) };
  // An older controller's options say nothing about disruption, which used to be one setting with post-copy.
  const { allowWorkloadDisruption: _, ...others } = cluster;
  return { ...defaults, ...withoutUnset(others), ...withoutUnset(own) };
}

const bandwidthPath = "status.migrationState.migrationConfiguration.bandwidthPerMigration";

function withoutUnset(options: VMIMConfigurationOptions): VMIMConfigurationOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value != null));
}

/** Additional threads would compete with the guest if its CPUs are limited. */
function hasSpareCpus({ spec }: VirtualMachineInstance): boolean {
  const { resources, cpu } = spec.domain;
  const limit = resources?.limits?.["cpu"] ?? undefined;
  const path = "spec.domain.resources.limits.cpu";
  if (limit !== undefined && !readAmount(limit, path).isZero()) return false;
  return cpu?.dedicatedCpuPlacement !== true;
}

function stallDetection(options: StallDetectorOptions): StallDetection {
  return {
    margin: (options.stallMargin ?? 4) / 100,
    progressTimeout: options.stallProgressTimeout ?? 40,
    switchoverTimeout: options.switchoverTimeout ?? 60,
    ewmaAlpha: factor("ewmaAlpha", options.ewmaAlpha ?? "0.4"),
    precopyPossibleFactor: factor("precopyPossibleFactor", options.precopyPossibleFactor ?? "1.5"),
    patienceDecay: factor("patienceWindowDecayFactor", options.patienceWindowDecayFactor ?? "0.5"),
    searchLocalMinima: options.searchLocalMinima ?? true,
    completionTimeoutFactor: factor(
      "completionTimeoutFactor",
      options.completionTimeoutFactor ?? "2",
    ),
  };
}

function factor(name: string, text: string): number {
  const value = readFactor(text);
  if (!Number.isNaN(value)) return value;
  const path = `status.migrationState.migrationConfiguration.experimental.stallDetector.${name}`;
  const shown = JSON.stringify(text.slice(0, 40));
  const message = `${path}: ${shown} is not a number with at most three decimals`;
  throw new MigrationError("MIGRATION_INPUT_INVALID", message, { path });
}
