import type { Lease } from "./lease.ts";

/** What a candidate does about a lease. */
export type CampaignStep =
  | { readonly do: "create" }
  /** It is free, or its holder has not renewed it in time. */
  | { readonly do: "take"; readonly lease: Lease; readonly transitions: number }
  /** It is ours by a write whose answer did not come. */
  | { readonly do: "renew" }
  | { readonly do: "wait"; readonly holder: string };

/**
 * Decides the next step of a candidate.
 *
 * @param unchangedFor milliseconds for which the lease has been seen unchanged
 * @param leaseDuration counts where the lease itself has none
 */
export function planCampaign(
  lease: Lease | undefined,
  {
    identity,
    unchangedFor,
    leaseDuration,
  }: { readonly identity: string; readonly unchangedFor: number; readonly leaseDuration: number },
): CampaignStep {
  if (!lease) return { do: "create" };
  const { holderIdentity = "", leaseDurationSeconds, leaseTransitions = 0 } = lease.spec ?? {};
  if (holderIdentity === identity) return { do: "renew" };
  const promised =
    leaseDurationSeconds === undefined ? leaseDuration : leaseDurationSeconds * 1_000;
  if (holderIdentity === "" || unchangedFor >= promised) {
    return { do: "take", lease, transitions: leaseTransitions + 1 };
  }
  return { do: "wait", holder: holderIdentity };
}
