import { PkiError } from "./pki-error.ts";

/** Lifetimes in milliseconds. All processes that share a store must use the same. */
export interface RotationPolicy {
  /** An authority. Default 7 days, as in KubeVirt. */
  readonly authorityLifetime: number;
  /** How long before the last authority expires a new one is created. Default 34 hours, a fifth of that. */
  readonly renewBefore: number;
  /**
   * The time from when a new authority is trusted until it signs, in which others learn of it. Default 1 hour.
   */
  readonly announce: number;
  /** A certificate, at most. Default 24 hours. */
  readonly certificateLifetime: number;
}

const hour = 3_600_000;

export const defaultRotation: RotationPolicy = {
  authorityLifetime: 168 * hour,
  renewBefore: 34 * hour,
  announce: hour,
  certificateLifetime: 24 * hour,
};

/** What a rotation has to know about an authority. */
export interface AuthorityTimes {
  readonly signsFrom: Date;
  readonly expires: Date;
}

/** What to do with the authorities. */
export interface RotationPlan<A> {
  /** Those that stay trusted, oldest first. */
  readonly keep: readonly A[];
  /** The one to create. */
  readonly add?: AuthorityTimes;
}

/**
 * Which authorities stay and whether to create one. An old one is trusted until the last certificate that it
 * can have signed has expired; a new one is trusted before it signs. If none can sign, the new one signs at
 * once.
 */
export function planRotation<A extends AuthorityTimes>(
  authorities: readonly A[],
  now: Date,
  policy: RotationPolicy,
  { force = false }: { readonly force?: boolean } = {},
): RotationPlan<A> {
  checkPolicy(policy);
  const keep = authorities.filter((authority, index) => {
    const next = authorities[index + 1];
    const lastUse = next ? next.signsFrom.getTime() + policy.certificateLifetime : Infinity;
    return now <= authority.expires && now.getTime() <= lastUse;
  });
  const newest = keep.at(-1);
  const due =
    newest === undefined || newest.expires.getTime() - now.getTime() <= policy.renewBefore;
  // One that does not sign yet is the requested rotation.
  const forced = force && newest !== undefined && newest.signsFrom <= now;
  if (!due && !forced) return { keep };
  const wait = signerOf(keep, now) ? policy.announce : 0;
  const signsFrom = new Date(now.getTime() + wait);
  return { keep, add: { signsFrom, expires: new Date(now.getTime() + policy.authorityLifetime) } };
}

/** The newest authority that may sign. */
export function signerOf<A extends AuthorityTimes>(
  authorities: readonly A[],
  now: Date,
): A | undefined {
  return authorities.findLast(({ signsFrom, expires }) => signsFrom <= now && now < expires);
}

function checkPolicy({
  authorityLifetime,
  renewBefore,
  announce,
  certificateLifetime,
}: RotationPolicy): void {
  if (
    announce >= 0 &&
    certificateLifetime > 0 &&
    renewBefore >= announce + certificateLifetime &&
    authorityLifetime > renewBefore
  ) {
    return;
  }
  const message =
    `the rotation is ${authorityLifetime} > ${renewBefore} >= ${announce} + ${certificateLifetime} ms; an authority must ` +
    "outlive renewBefore, and that the announcement and every certificate of the old authority";
  throw new PkiError("PKI_INPUT_INVALID", message, { path: "rotation" });
}
