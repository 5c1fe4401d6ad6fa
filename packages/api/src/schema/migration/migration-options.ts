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
  /** Multiple of the completion timeout that a forced last step may use up; `2` if absent. */
  completionTimeoutFactor?: string;
  /** Weight of the newest sample in the average bandwidth, above 0 and up to 1; `0.4` if absent. */
  ewmaAlpha?: string;
  /** By how much patience shrinks each time the aim is lowered; `0.5` if absent. */
  patienceWindowDecayFactor?: string;
  /** Standing still may take so many times the allowed downtime and is still tried; `1.5` if absent. */
  precopyPossibleFactor?: string;
  /** Waits to act until little data remains, compared with the best so far; on if absent. */
  searchLocalMinima?: boolean;
  /** Per cent by which the remaining data must fall below the best so far to count as progress; 4 if absent. */
  stallMargin?: number;
  /** Seconds over which progress is looked for; 40 if absent. */
  stallProgressTimeout?: number;
  /** Seconds that the last step may take before the migration is given up; 60 if absent. */
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

/** How a migration's data are compressed. */
export type MigrationCompression = OpenEnum<typeof MigrationCompressionValues>;
export const MigrationCompressionValues = ["none", "zstd"] as const;
export const MigrationCompressionSchema: Schema<MigrationCompression> = openEnum(
  MigrationCompressionValues,
);

/** Options that may change or go away. */
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
  /** Slows the guest down until its memory can be carried over. */
  allowAutoConverge?: boolean;
  /** Starts the guest on the target before its memory is there. If that fails, the guest is lost. */
  allowPostCopy?: boolean;
  allowWorkloadDisruption?: boolean;
  /** Bytes a second; 0 is without limit. */
  bandwidthPerMigration?: QuantityInput;
  /** Seconds a GiB until the guest is paused, post-copy begins or the migration is given up. */
  completionTimeoutPerGiB?: number;
  disableTLS?: boolean;
  experimental?: ExperimentalMigrationOptions;
  matchSELinuxLevelOnMigration?: boolean;
  maxDowntimeMs?: number;
  network?: string;
  nodeDrainTaintKey?: string;
  parallelMigrationsPerCluster?: number;
  parallelOutboundMigrationsPerNode?: number;
  /** Seconds without any data carried over before a migration is given up. */
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
