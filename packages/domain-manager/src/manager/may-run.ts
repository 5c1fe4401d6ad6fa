import { DomainManagerError } from "../domain-manager-error.ts";

/** What a claim of the run grant says: this Pod, and no other, may run this guest. Plain data. */
export interface RunGrant {
  readonly vmiUid: string;
  readonly podUid: string;
  /** Grows with every Pod that is given the right to run the guest. */
  readonly epoch: number;
}

/**
 * Proof that a guest may run here. Every call that starts or resumes vCPUs takes one, and only
 * {@link MayRun.claimed} makes one, so no path of the code starts a guest by mistake. Whoever calls it
 * holds the claim: the node agent after it has swapped the grant to "claimed", or a test.
 */
export class MayRun {
  readonly #grant: RunGrant;

  private constructor(grant: RunGrant) {
    this.#grant = grant;
  }

  /** @throws DomainManagerError where the grant is no grant: an empty UID, an epoch that is no count. */
  static claimed({ vmiUid, podUid, epoch }: RunGrant): MayRun {
    const isText = (value: unknown): boolean =>
      typeof value === "string" && value !== "" && value.length <= 253;
    if (!isText(vmiUid)) throw notAGrant("vmiUid", vmiUid, "the UID of the VMI");
    if (!isText(podUid)) throw notAGrant("podUid", podUid, "the UID of the launcher's Pod");
    if (!Number.isSafeInteger(epoch) || epoch < 1) {
      throw notAGrant("epoch", epoch, "a whole number from 1");
    }
    return new MayRun({ vmiUid, podUid, epoch });
  }

  get grant(): RunGrant {
    return this.#grant;
  }
}

function notAGrant(path: string, found: unknown, wanted: string): DomainManagerError {
  const shown = JSON.stringify(found)?.slice(0, 100) ?? "nothing";
  return new DomainManagerError(
    "DOMAIN_NOT_GRANTED",
    `mayRun.${path}: found ${shown}, give ${wanted}`,
    { path: `mayRun.${path}` },
  );
}
