import type { QuantityInput } from "@virtkit/api/schema";

/** What one migration may do, as the node agent hands it to the source's launcher. */
export interface MigrationOptions {
  /** Bytes a second; 0 is without limit. */
  readonly bandwidth: QuantityInput;
  /** Seconds without progress before the migration is given up; 0 waits for ever. */
  readonly progressTimeout: number;
  /** Seconds for each gigabyte that has to move; 0 is without limit. */
  readonly completionTimeoutPerGiB: number;
  readonly maxDowntimeMs: number;
  /** Migrates although libvirt thinks that the disks' caches make it unsafe. */
  readonly unsafe: boolean;
  readonly allowAutoConverge: boolean;
  readonly allowPostCopy: boolean;
  /** Whether a migration that is out of time may pause the guest or switch to post-copy. */
  readonly allowWorkloadDisruption: boolean;
  /** Connections that carry memory side by side; absent means one connection, without multifd. */
  readonly parallelThreads?: number | undefined;
  /** `zstd`; `none`, absent and what is unknown mean no compression. */
  readonly compression?: string | undefined;
  /** Judges progress by iterations instead of by samples. Absent unless the cluster wants it. */
  readonly stallDetection?: StallDetection | undefined;
}

/** When a migration counts as stalled, and what is tried then. */
export interface StallDetection {
  /** Part by which less must remain than at the best iteration, to count as progress. */
  readonly margin: number;
  /** Seconds over which progress is looked for. */
  readonly progressTimeout: number;
  /** Seconds that the last step may take. */
  readonly switchoverTimeout: number;
  /** Weight of the newest sample in the average bandwidth. */
  readonly ewmaAlpha: number;
  /** Standing still may take so many times the allowed downtime, and is still tried. */
  readonly precopyPossibleFactor: number;
  /** By how much patience shrinks each time the aim is lowered. */
  readonly patienceDecay: number;
  /** Waits to act until little remains, compared with the best so far. */
  readonly searchLocalMinima: boolean;
  /** Multiple of the completion time that a forced last step may use up. */
  readonly completionTimeoutFactor: number;
}
