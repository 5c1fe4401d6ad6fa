import type { Decision } from "./decision.ts";
import type { Holder } from "./grant.ts";
import type { ProofOfEnd } from "./proof-of-end.ts";

/** An earlier holder, or a Pod's container that may have been one, with what is known about its end. */
export interface EarlierHolder {
  readonly holder: Holder;
  readonly proofs: readonly ProofOfEnd[];
}

/** Gives the grant to a Pod: the first one, or the next one after proof. Requested by a controller. */
export interface GrantToPod {
  readonly kind: "grant";
  readonly vmiUID: string;
  readonly podUID: string;
  /** Evidence that the holder, and the target of a handover, have ended. */
  readonly proofs: readonly ProofOfEnd[];
  /** Whether the VM remembers this Pod. True if there is no VM that could. */
  readonly remembered: boolean;
  /** For the first grant of a VMI: what an earlier VMI of that name may have left running. */
  readonly earlier: {
    /** Those of an earlier VMI that the VM remembers. */
    readonly remembered: readonly EarlierHolder[];
    /**
     * Containers of Pods of that VM name that were made for an earlier VMI; those of this VMI cannot have
     * claimed.
     */
    readonly listed: readonly EarlierHolder[];
    /** Whether the list was read from the API server, not from a cache. */
    readonly live: boolean;
  };
}

/** A node agent claims for an incarnation, immediately before its domain is created or after a release. */
export interface Claim {
  readonly kind: "claim";
  readonly holder: Holder;
  /** What a target has: the release from the control channel, or a domain that post-copy has completed. */
  readonly evidence?: Decision | "postCopyComplete" | undefined;
}

/** Starts a live migration. Requested by the migration controller, once the target is ready to receive. */
export interface HandOver {
  readonly kind: "handOver";
  readonly target: Holder;
  readonly migrationUID: string;
  /** Whether the VM remembers the target's Pod. */
  readonly remembered: boolean;
  /** Whether the status says that the guest of the present holder runs. */
  readonly sourceRuns: boolean;
}

/** Publishes a decision that is on the disk of the source's agent. */
export interface Decided {
  readonly kind: "decided";
  readonly decision: Decision;
}

/** Nothing runs any more. Requested by a node agent or a controller. */
export interface End {
  readonly kind: "end";
  /** The VMI that the grant belongs to: a free grant does not know it yet, and must not end without it. */
  readonly vmiUID: string;
  readonly proofs: readonly ProofOfEnd[];
}

/** A request to change a grant. */
export type GrantRequest = GrantToPod | Claim | HandOver | Decided | End;
