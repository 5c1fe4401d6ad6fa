import { DomainManagerError } from "../domain-manager-error.ts";
import { MayRun, type RunGrant } from "./may-run.ts";

/** The guest of a manager, and where it runs. */
export interface GuestIdentity {
  readonly namespace: string;
  readonly name: string;
  readonly vmiUid: string;
  /** UID of the launcher's own Pod. */
  readonly podUid: string;
}

/**
 * Knows which proofs are valid here: those for this guest and this Pod, and none that is older than one
 * already seen. It can only refuse; what it has seen is not a reason to run anything.
 */
export class RunRight {
  readonly #identity: Pick<GuestIdentity, "vmiUid" | "podUid">;
  #epoch = 0;
  #closed = false;

  constructor(identity: Pick<GuestIdentity, "vmiUid" | "podUid">) {
    this.#identity = identity;
  }

  /** The guest has ended and is deleted: nothing here runs it again, whatever proof comes. */
  close(): void {
    this.#closed = true;
  }

  /** @throws DomainManagerError `DOMAIN_NOT_GRANTED` unless the proof is valid. */
  check(mayRun: MayRun): RunGrant {
    if (!(mayRun instanceof MayRun)) {
      throw notGranted("mayRun", "is not a proof; claim the run grant with MayRun.claim");
    }
    if (this.#closed) {
      throw notGranted("mayRun", "the guest was deleted here; only a new Pod may run it again");
    }
    const { grant } = mayRun;
    const { vmiUid, podUid } = this.#identity;
    if (grant.vmiUid !== vmiUid) {
      throw notGranted(
        "mayRun.vmiUid",
        `is for the VMI ${grant.vmiUid}, but this guest is ${vmiUid}`,
      );
    }
    if (grant.podUid !== podUid) {
      throw notGranted(
        "mayRun.podUid",
        `is for the Pod ${grant.podUid}, but this Pod is ${podUid}`,
      );
    }
    if (grant.epoch < this.#epoch) {
      throw notGranted(
        "mayRun.epoch",
        `is ${grant.epoch}, but ${this.#epoch} was already seen; read the grant again`,
      );
    }
    this.#epoch = grant.epoch;
    return grant;
  }
}

function notGranted(path: string, what: string): DomainManagerError {
  return new DomainManagerError("DOMAIN_NOT_GRANTED", `${path}: ${what}`, { path });
}
