import type { DomainManagerError, GuestIdentity, MayRun, RunGrant } from "@virtkit/domain-manager";
import { guestFailure } from "./guest-failure.ts";

/** Knows which proofs are good, as the domain manager does: of this guest, this Pod, and none out of date. */
export class RunProof {
  readonly #identity: GuestIdentity;
  #epoch = 0;
  #closed = false;

  constructor(identity: GuestIdentity) {
    this.#identity = identity;
  }

  /** The guest was deleted: no proof is good any more. */
  close(): void {
    this.#closed = true;
  }

  /** Throws `DOMAIN_NOT_GRANTED` unless the proof is good. */
  check(mayRun: MayRun): void {
    const grant = (mayRun as { readonly grant?: RunGrant } | undefined)?.grant;
    if (!grant) throw refusal("mayRun", "is not a proof; claim the run grant with MayRun.claim");
    if (this.#closed) throw refusal("mayRun", "the guest was deleted here");
    for (const key of ["vmiUid", "podUid"] as const) {
      if (grant[key] === this.#identity[key]) continue;
      throw refusal(`mayRun.${key}`, `is ${grant[key]}, but this guest has ${this.#identity[key]}`);
    }
    if (grant.epoch < this.#epoch) {
      throw refusal(
        "mayRun.epoch",
        `is ${grant.epoch}, which is older than epoch ${this.#epoch} seen before`,
      );
    }
    this.#epoch = grant.epoch;
  }
}

function refusal(path: string, what: string): DomainManagerError {
  return guestFailure("DOMAIN_NOT_GRANTED", `${path}: ${what}`, path);
}
