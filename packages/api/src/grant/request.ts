import type { Decision } from "./decision.ts";
import type { Holder } from "./grant.ts";
import type { ProofOfEnd } from "./proof-of-end.ts";

/** An earlier holder, or a Pod's container that may have been one, with what is known about its end. */
export interface EarlierHolder {
  readonly holder: Holder;
  readonly proofs: readonly ProofOfEnd[];
}

/** Gives the grant to a Pod: the first one, or the next one after proof. By a controller. */
export interface GrantToPod {
  readonly kind: "grant";
  readonly vmiUID: string;
  readonly podUID: string;
  /** Evidence that the holder, and the target of a handover, have ended. */
  readonly proofs: readonly ProofOfEnd[];
  /** The VM remembers this Pod. Where no VM exists there is nothing to remember it: true. */
  readonly remembered: boolean;
  /** Looked at for the first grant of a VMI: what an earlier VMI of that name may have left running. */
  readonly earlier: {
    /** Those that the VM remembers of an earlier VMI. */
    readonly remembered: readonly EarlierHolder[];
    /** Containers of Pods of that VM name that were made for an earlier VMI; those of this one cannot have claimed. */
    readonly listed: readonly EarlierHolder[];
    /** Whether the list was read from the API server, not from a cache. */
    readonly live: boolean;
  };
}

/** A node agent claims for an incarnation, immediately before its domain is created or after a release. */
export interface Claim {
  readonly kind: "claim";
  readonly holder: Holder;
  /** What a target has: the release that came over the control channel, or a domain that post-copy has completed. */
  readonly evidence?: Decision | "postCopyComplete" | undefined;
}

/** Starts a live migration. By the migration controller, once the target is ready to receive. */
export interface HandOver {
  readonly kind: "handOver";
  readonly target: Holder;
  readonly migrationUID: string;
  /** The VM remembers the target's Pod. */
  readonly remembered: boolean;
  /** The status says that the guest of the present holder runs. */
  readonly sourceRuns: boolean;
}

/** Makes a decision known that is on the disk of the source's agent. */
export interface Decided {
  readonly kind: "decided";
  readonly decision: Decision;
}

/** Nothing runs any more. By a node agent or a controller. */
export interface End {
  readonly kind: "end";
  /** Whose grant it is: a free one does not know it yet, and must not end as nobody's. */
  readonly vmiUID: string;
  readonly proofs: readonly ProofOfEnd[];
}

/** A request to change a grant. */
export type GrantRequest = GrantToPod | Claim | HandOver | Decided | End;
