import { type Clock, realClock, sleep } from "@virtkit/api/clock";
import {
  type Claim,
  type Claimed,
  decide,
  isSameHolder,
  type ReadGrant,
  type Verdict,
} from "@virtkit/api/grant";
import { type Random, realRandom } from "@virtkit/api/random";
import { DomainManagerError } from "../domain-manager-error.ts";
import type { GrantStore, GrantStoreOptions } from "./grant-store.ts";

/**
 * The content of a claim of the run grant: this Pod, and no other, may run this guest. Plain data.
 */
export interface RunGrant {
  readonly vmiUid: string;
  readonly podUid: string;
  /** Grows with every Pod that may run the guest. */
  readonly epoch: number;
}

/** Who claims. */
export interface ClaimRequest extends Omit<Claim, "kind"> {
  /**
   * Grants the guest to the claimant's Pod in the same swap, if there is no controller to do it.
   * Called with the grant that does not admit the claim.
   */
  readonly grantFirst?: (grant: ReadGrant) => Verdict;
}

/** How {@link MayRun.claim} waits for its turn. */
export interface ClaimOptions extends GrantStoreOptions {
  readonly clock?: Clock;
  readonly random?: Random;
}

const mostAttempts = 50;

/**
 * Proof that a guest may run here. Every call that starts or resumes vCPUs takes one. {@link
 * MayRun.claim} creates one, from a claim that a store has accepted; {@link MayRun.fromAgent}
 * creates the same one at the other end of a launcher's channel. So no code path starts a guest by
 * mistake.
 */
export class MayRun {
  readonly #grant: RunGrant;

  private constructor(grant: RunGrant) {
    this.#grant = grant;
  }

  /**
   * Claims the run grant in a store. The holder of the claim gets it again.
   *
   * @throws DomainManagerError `DOMAIN_NOT_GRANTED` if the rules refuse the claim, with their
   * reason, or if many claim at once for too long. An error of the store says nothing about the
   * claim: claim again.
   */
  static async claim(
    store: GrantStore,
    request: ClaimRequest,
    { clock = realClock, random = realRandom, ...options }: ClaimOptions = {},
  ): Promise<MayRun> {
    for (let attempt = 0; attempt < mostAttempts; attempt++) {
      options.signal?.throwIfAborted();
      const read = await store.read(options);
      const claimed = decideClaim(read.grant, request);
      const isTaken = claimed === read.grant || (await store.swap(read, claimed, options));
      const { vmiUID: vmiUid, epoch, holder } = claimed;
      if (isTaken) return MayRun.fromAgent({ vmiUid, podUid: holder.podUID, epoch });
      // Others try, too: not all should retry at the same moment.
      await sleep(clock, 1 + random.number() * 20);
    }
    throw refused("is being claimed by many at once; try again");
  }

  /**
   * What the node agent sends over the channel to its launcher. The agent has claimed, and nobody
   * else can open that channel; only the channel calls this.
   *
   * @throws DomainManagerError if the grant is invalid: an empty UID, or an epoch that is not a
   * positive integer.
   */
  static fromAgent({ vmiUid, podUid, epoch }: RunGrant): MayRun {
    const isText = (value: unknown): boolean =>
      typeof value === "string" && value !== "" && value.length <= 253;
    if (!isText(vmiUid)) throw notAGrant("vmiUid", vmiUid, "the UID of the VMI");
    if (!isText(podUid)) throw notAGrant("podUid", podUid, "the UID of the launcher's Pod");
    if (!Number.isSafeInteger(epoch) || epoch < 1) {
      throw notAGrant("epoch", epoch, "a whole number of at least 1");
    }
    return new MayRun({ vmiUid, podUid, epoch });
  }

  get grant(): RunGrant {
    return this.#grant;
  }
}

/** The claim that the rules permit; the grant itself if it is already claimed. */
function decideClaim(grant: ReadGrant, { holder, evidence, grantFirst }: ClaimRequest): Claimed {
  const request: Claim = { kind: "claim", holder, evidence };
  let verdict = decide(grant, request);
  if ("refused" in verdict && grantFirst) {
    verdict = grantFirst(grant);
    if ("grant" in verdict) verdict = decide(verdict.grant, request);
  }
  if ("refused" in verdict) throw refused(verdict.reason);
  const { grant: next } = verdict;
  if (next.state === "Claimed" && isSameHolder(next.holder, holder)) return next;
  throw refused(`a grant that is ${next.state} is not a claim of this holder`);
}

function refused(reason: string): DomainManagerError {
  return new DomainManagerError("DOMAIN_NOT_GRANTED", `the run grant: ${reason}`, {
    path: "mayRun",
  });
}

function notAGrant(path: string, found: unknown, wanted: string): DomainManagerError {
  const shown = JSON.stringify(found)?.slice(0, 100) ?? "nothing";
  return new DomainManagerError(
    "DOMAIN_NOT_GRANTED",
    `mayRun.${path}: found ${shown}, give ${wanted}`,
    { path: `mayRun.${path}` },
  );
}
