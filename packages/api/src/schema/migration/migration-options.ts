import { type QuantityInput, QuantityInputSchema } from "../quantity-input.ts";
import {
  boolean,
  int64,
  type OpenEnum,
  object,
  openEnum,
  type Schema,
  string,
  uint32,
  uint64,
  withRules,
} from "../schema.ts";

/** When a migration counts as stalled. */
export interface StallDetectorOptions {
  /** Multiple of the completion timeout that a forced last step may use; `2` if absent. */
  completionTimeoutFactor?: string;
  /** Weight of the newest sample in the average bandwidth, greater than 0 and at most 1; `0.4` if absent. */
  ewmaAlpha?: string;
  /** By how much patience shrinks each time the target is lowered; `0.5` if absent. */
  patienceWindowDecayFactor?: string;
  /** How many times the allowed downtime the expected downtime may be; `1.5` if absent. */
  precopyPossibleFactor?: string;
  /** Waits until little data remains, compared with the best so far; on if absent. */
  searchLocalMinima?: boolean;
  /**
   * Percentage by which the remaining data must fall below the best so far to count as progress; 4 if absent.
   */
  stallMargin?: number;
  /** Seconds over which progress is measured; 40 if absent. */
  stallProgressTimeout?: number;
  /** Seconds that the last step may take before the migration is aborted; 60 if absent. */
  switchoverTimeout?: number;
}

export const StallDetectorOptionsSchema: Schema<StallDetectorOptions> =
  object<StallDetectorOptions>({
    completionTimeoutFactor: string,
    ewmaAlpha: string,
    patienceWindowDecayFactor: string,
    precopyPossibleFactor: string,
    searchLocalMinima: boolean,
    stallMargin: withRules(int64, { minimum: 0, maximum: 100 }),
    stallProgressTimeout: uint64,
    switchoverTimeout: uint64,
  });

/** How a migration's data is compressed. */
export type MigrationCompression = OpenEnum<typeof MigrationCompressionValues>;
export const MigrationCompressionValues = ["none", "zstd"] as const;
export const MigrationCompressionSchema: Schema<MigrationCompression> = openEnum(
  MigrationCompressionValues,
);

/** Options that may change or be removed. */
export interface ExperimentalMigrationOptions {
  compression?: MigrationCompression;
  stallDetector?: StallDetectorOptions;
}

export const ExperimentalMigrationOptionsSchema: Schema<ExperimentalMigrationOptions> =
  object<ExperimentalMigrationOptions>({
    compression: withRules(MigrationCompressionSchema, { closed: true }),
    stallDetector: StallDetectorOptionsSchema,
  });

/** The options that a migration was started with. */
export interface VMIMConfigurationOptions {
  /** Slows down the guest until its memory can be transferred. */
  allowAutoConverge?: boolean;
  /** Starts the guest on the target before its memory has arrived. If that fails, the guest is lost. */
  allowPostCopy?: boolean;
  allowWorkloadDisruption?: boolean;
  /** Bytes per second; 0 means no limit. */
  bandwidthPerMigration?: QuantityInput;
  /** Seconds per GiB until the guest is paused, post-copy begins or the migration is aborted. */
  completionTimeoutPerGiB?: number;
  disableTLS?: boolean;
  experimental?: ExperimentalMigrationOptions;
  matchSELinuxLevelOnMigration?: boolean;
  maxDowntimeMs?: number;
  network?: string;
  nodeDrainTaintKey?: string;
  parallelMigrationsPerCluster?: number;
  parallelOutboundMigrationsPerNode?: number;
  /** Seconds without progress before a migration is aborted. */
  progressTimeout?: number;
  unsafeMigrationOverride?: boolean;
  utilityVolumesTimeout?: number;
}

export const VMIMConfigurationOptionsSchema: Schema<VMIMConfigurationOptions> =
  object<VMIMConfigurationOptions>({
    allowAutoConverge: boolean,
    allowPostCopy: boolean,
    allowWorkloadDisruption: boolean,
    bandwidthPerMigration: QuantityInputSchema,
    completionTimeoutPerGiB: int64,
    disableTLS: boolean,
    experimental: ExperimentalMigrationOptionsSchema,
    matchSELinuxLevelOnMigration: boolean,
    maxDowntimeMs: withRules(uint64, { minimum: 1, maximum: 2_000_000 }),
    network: string,
    nodeDrainTaintKey: string,
    parallelMigrationsPerCluster: uint32,
    parallelOutboundMigrationsPerNode: uint32,
    progressTimeout: int64,
    unsafeMigrationOverride: boolean,
    utilityVolumesTimeout: int64,
  });
