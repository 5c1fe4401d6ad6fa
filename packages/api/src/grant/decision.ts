/**
 * How a handover was decided. `released`: the target may run. `aborted`: the source continues. `committed`:
 * post-copy may begin. `returned`: committed, but QEMU never entered post-copy.
 */
export type Outcome = "released" | "aborted" | "committed" | "returned";

/** The decision of one migration: what the source's agent syncs to disk before any message or swap. */
export interface Decision {
  readonly migrationUID: string;
  readonly outcome: Outcome;
}

/** What the source's agent has on disk about a migration; undefined if nothing. */
export interface DecisionRecord {
  readonly migrationUID: string;
  /** Absent from the beginning of the migration until it is decided. */
  readonly outcome?: Outcome | undefined;
}

/** libvirt's reply to a phase, as received by this process of the source's launcher. */
export type Answer = "ok" | "failed" | "none";

/** A request to write a decision to disk. */
export type SettleRequest =
  | {
      readonly outcome: "released";
      readonly migrationUID: string;
      readonly perform: Answer;
      readonly finish: Answer;
    }
  | { readonly outcome: "committed"; readonly migrationUID: string }
  | {
      readonly outcome: "aborted";
      readonly migrationUID: string;
      /** A live read shows that the source's domain runs. So nothing was released. */
      readonly sourceRuns: boolean;
    }
  | {
      readonly outcome: "returned";
      readonly migrationUID: string;
      /** A live read shows that the source's domain runs and never was in post-copy. */
      readonly neverSwitched: boolean;
    };
