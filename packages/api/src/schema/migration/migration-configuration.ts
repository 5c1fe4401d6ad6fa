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
  /** Slows down the guest until its memory can be transferred. */
  allowAutoConverge?: boolean;
  /** Starts the guest on the target before its memory has arrived. If that fails, the guest is lost. */
  allowPostCopy?: boolean;
  /** Pauses the guest, or switches to post-copy, if the migration does not converge. */
  allowWorkloadDisruption?: boolean;
  /** Bytes per second; 0 means no limit. */
  bandwidthPerMigration?: QuantityInput;
  /** Seconds per GiB until the guest is paused, post-copy begins or the migration is aborted; 150 if absent. */
  completionTimeoutPerGiB?: number;
  /** Transfers memory unencrypted. */
  disableTLS?: boolean;
  /** The target gets the source's SELinux level; on if absent. */
  matchSELinuxLevelOnMigration?: boolean;
  /** The maximum downtime at the end, in milliseconds; 900 if absent. */
  maxDowntimeMs?: number;
  /** A NetworkAttachmentDefinition for migrations; the Pod network if absent. */
  network?: string;
  /** VMIs leave a node with this taint. */
  nodeDrainTaintKey?: string;
  /** 5 if absent. */
  parallelMigrationsPerCluster?: number;
  /** 2 if absent. */
  parallelOutboundMigrationsPerNode?: number;
  /** Seconds without progress before a migration is aborted; 150 if absent. */
  progressTimeout?: number;
  /** Allows migrations that QEMU considers unsafe. */
  unsafeMigrationOverride?: boolean;
  /** Seconds to wait for utility volumes to be detached; 150 if absent. */
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
