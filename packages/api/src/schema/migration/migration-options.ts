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
  completionTimeoutFactor?: string;
  ewmaAlpha?: string;
  patienceWindowDecayFactor?: string;
  precopyPossibleFactor?: string;
  searchLocalMinima?: boolean;
  stallMargin?: number;
  stallProgressTimeout?: number;
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
  allowAutoConverge?: boolean;
  allowPostCopy?: boolean;
  allowWorkloadDisruption?: boolean;
  bandwidthPerMigration?: QuantityInput;
  completionTimeoutPerGiB?: number;
  disableTLS?: boolean;
  experimental?: ExperimentalMigrationOptions;
  matchSELinuxLevelOnMigration?: boolean;
  maxDowntimeMs?: number;
  network?: string;
  nodeDrainTaintKey?: string;
  parallelMigrationsPerCluster?: number;
  parallelOutboundMigrationsPerNode?: number;
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
