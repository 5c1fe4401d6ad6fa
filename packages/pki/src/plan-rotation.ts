import { PkiError } from "./pki-error.ts";

/** How long things last, in milliseconds. All who share a store use the same. */
export interface RotationPolicy {
  /** An authority. Default 7 days, as KubeVirt's. */
  readonly authorityLifetime: number;
  /** A new authority is made so long before the last one expires. Default 34 hours, a fifth of that. */
  readonly renewBefore: number;
  /** From a new authority's being trusted to its first signature: so long others have to hear of it. Default 1 hour. */
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

/** What a rotation has to know of an authority. */
export interface AuthorityTimes {
  readonly signsFrom: Date;
  readonly expires: Date;
}

/** What is to become of the authorities. */
export interface RotationPlan<A> {
  /** Those that stay trusted, oldest first. */
  readonly keep: readonly A[];
  /** The one that is to be made. */
  readonly add?: AuthorityTimes;
}

/**
 * Which authorities stay and whether one is to be made. An old one is trusted until the last certificate that it
 * can have signed has expired; a new one is trusted before it signs. Where none can sign, the new one signs at once.
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
  // One that does not sign yet is the rotation that is asked for.
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
