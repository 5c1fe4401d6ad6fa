import type { QuantityInput } from "@virtkit/api/schema";

/** What one migration may do, as the node agent hands it to the source's launcher. */
export interface MigrationOptions {
  /** Bytes per second; 0 means no limit. */
  readonly bandwidth: QuantityInput;
  /** Seconds without progress before the migration is given up; 0 means no limit. */
  readonly progressTimeout: number;
  /** Seconds per gigabyte to move; 0 means no limit. */
  readonly completionTimeoutPerGiB: number;
  readonly maxDowntimeMs: number;
  /** Migrate even if libvirt considers the disks' caches unsafe. */
  readonly unsafe: boolean;
  readonly allowAutoConverge: boolean;
  readonly allowPostCopy: boolean;
  /** Whether a migration that is out of time may pause the guest or switch to post-copy. */
  readonly allowWorkloadDisruption: boolean;
  /** Number of connections that carry memory in parallel; absent means one connection, without multifd. */
  readonly parallelThreads?: number | undefined;
  /** `zstd`; `none`, absent and unknown values mean no compression. */
  readonly compression?: string | undefined;
  /** Judge progress by iterations instead of samples. Absent unless the cluster asks for it. */
  readonly stallDetection?: StallDetection | undefined;
}

/** When a migration counts as stalled, and what is tried then. */
export interface StallDetection {
  /** By what share the remaining data must fall below the best iteration to count as progress. */
  readonly margin: number;
  /** Seconds over which progress is measured. */
  readonly progressTimeout: number;
  /** Seconds that the last step may take. */
  readonly switchoverTimeout: number;
  /** Weight of the newest sample in the average bandwidth. */
  readonly ewmaAlpha: number;
  /** Standing still is still tried if it takes at most this many times the allowed downtime. */
  readonly precopyPossibleFactor: number;
  /** How much patience shrinks each time the target is lowered. */
  readonly patienceDecay: number;
  /** Wait to act until little remains, compared with the best so far. */
  readonly searchLocalMinima: boolean;
  /** The multiple of the completion time that a forced last step may use. */
  readonly completionTimeoutFactor: number;
}
