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
  /** Slows the guest down until its memory can be carried over. */
  allowAutoConverge?: boolean;
  /** Starts the guest on the target before its memory is there. If that fails, the guest is lost. */
  allowPostCopy?: boolean;
  /** Pauses the guest, or goes on to post-copy, where the migration does not converge. */
  allowWorkloadDisruption?: boolean;
  /** Bytes a second; 0 is without limit. */
  bandwidthPerMigration?: QuantityInput;
  /** Seconds a GiB until the guest is paused, post-copy begins or the migration is given up; 150 if absent. */
  completionTimeoutPerGiB?: number;
  /** Memory goes over the network as it is. */
  disableTLS?: boolean;
  /** The target gets the source's SELinux level; on if absent. */
  matchSELinuxLevelOnMigration?: boolean;
  /** How long the guest may stand still at the end; 900 if absent. */
  maxDowntimeMs?: number;
  /** A NetworkAttachmentDefinition that migrations go over; the Pod network if absent. */
  network?: string;
  /** A node with this taint is left. */
  nodeDrainTaintKey?: string;
  /** 5 if absent. */
  parallelMigrationsPerCluster?: number;
  /** 2 if absent. */
  parallelOutboundMigrationsPerNode?: number;
  /** Seconds without any data carried over before a migration is given up; 150 if absent. */
  progressTimeout?: number;
  /** Lets QEMU migrate what it thinks unsafe. */
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
