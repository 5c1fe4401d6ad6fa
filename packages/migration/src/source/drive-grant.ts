import {
  type Decision,
  decide,
  type Holder,
  isSameHolder,
  type ReadGrant,
} from "@virtkit/api/grant";
import type { GrantStore } from "@virtkit/domain-manager";
import { MigrationError } from "../migration-error.ts";

/** What a source asks of the run grant. In a cluster, its node agent answers. */
export interface HandoverGrant {
  /** The source's own incarnation. */
  readonly holder: Holder;
  /** A live read. */
  read(options?: { readonly signal?: AbortSignal | undefined }): Promise<ReadGrant>;
  /** Writes a decision that is on disk into the grant; resolves with the resulting grant. */
  makeKnown(
    decision: Decision,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<ReadGrant>;
}

const mostAttempts = 50;

/** The grant in a store that this process can reach. */
export function handoverGrant(store: GrantStore, holder: Holder): HandoverGrant {
  return {
    holder,
    async read(options) {
      return (await store.read(options)).grant;
    },
    async makeKnown(decision, options) {
      for (let attempt = 0; attempt < mostAttempts; attempt++) {
        const read = await store.read(options);
        const verdict = decide(read.grant, { kind: "decided", decision });
        // Nothing left to decide: the target has claimed, or the source has it back.
        if ("refused" in verdict) return read.grant;
        if (verdict.grant === read.grant) return read.grant;
        if (await store.swap(read, verdict.grant, options)) return verdict.grant;
      }
      const message = "many writers are changing the run grant at once; try again";
      throw new MigrationError("MIGRATION_REFUSED", message, { path: "compare-and-swap" });
    },
  };
}

/** Whether a grant says that somebody else runs the guest now. */
export function isClaimedByAnother(grant: ReadGrant, holder: Holder): boolean {
  return grant.state === "Claimed" && !isSameHolder(grant.holder, holder);
}
