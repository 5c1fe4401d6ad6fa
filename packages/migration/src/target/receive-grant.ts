import type { Claim, Holder, ProofOfEnd, ReadGrant } from "@virtkit/api/grant";
import { type GrantStore, MayRun } from "@virtkit/domain-manager";

/** What a target asks of the run grant. In a cluster, its node agent answers. */
export interface TargetGrant {
  /** The target's own incarnation, which the handover names. */
  readonly holder: Holder;
  /** A live read. */
  read(): Promise<ReadGrant>;
  /** Evidence of the source's end that came with a read. Default: none. */
  proofs?(): readonly ProofOfEnd[];
  /** Makes this target the holder of the guest, with its evidence. */
  claim(evidence: Claim["evidence"]): Promise<MayRun>;
}

/** The grant in a store that this process can reach. */
export function targetGrant(store: GrantStore, holder: Holder): TargetGrant {
  return {
    holder,
    read: async () => (await store.read()).grant,
    claim: async (evidence) => await MayRun.claim(store, { holder, evidence }),
  };
}
