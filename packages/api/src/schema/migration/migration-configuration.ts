import { type QuantityInput, QuantityInputSchema } from "../quantity-input.ts";
import {
  boolean,
  int64,
  object,
  type Schema,
  string,
  uint32,
  uint64,
  withRules,
} from "../schema.ts";

/** The cluster's options for live migrations. */
export interface MigrationConfiguration {
  allowAutoConverge?: boolean;
  allowPostCopy?: boolean;
  allowWorkloadDisruption?: boolean;
  bandwidthPerMigration?: QuantityInput;
  completionTimeoutPerGiB?: number;
  disableTLS?: boolean;
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

export const MigrationConfigurationSchema: Schema<MigrationConfiguration> =
  object<MigrationConfiguration>({
    allowAutoConverge: boolean,
    allowPostCopy: boolean,
    allowWorkloadDisruption: boolean,
    bandwidthPerMigration: QuantityInputSchema,
    completionTimeoutPerGiB: int64,
    disableTLS: boolean,
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
