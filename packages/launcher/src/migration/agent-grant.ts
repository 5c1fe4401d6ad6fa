import { type Clock, sleep } from "@virtkit/api/clock";
import {
  type Claim,
  type Decision,
  decide,
  type Holder,
  type ProofOfEnd,
  type ReadGrant,
} from "@virtkit/api/grant";
import type { MayRun } from "@virtkit/domain-manager";
import type { HandoverGrant } from "@virtkit/migration/source";
import type { TargetGrant } from "@virtkit/migration/target";
import { LauncherError } from "../launcher-error.ts";
import type { MigrationReport } from "./migration-verbs.ts";

/** What {@link AgentGrant} says to the node agent: part of the report. */
type Wish = Pick<MigrationReport, "decision" | "asksGrant" | "claims">;

/** How long a node agent may take: it asks the API server. */
const patience = 30_000;

/**
 * The run grant of a launcher, which cannot reach it: it says what should be known, and its node
 * agent decides for itself, swaps, and reports the present grant. Without an answer nothing counts
 * as known.
 */
export class AgentGrant implements HandoverGrant, TargetGrant {
  readonly holder: Holder;
  readonly #wish: (wish: Wish) => void;
  readonly #clock: Clock;
  readonly #grants = new Set<(grant: ReadGrant) => void>();
  readonly #claims = new Set<(mayRun: MayRun) => void>();
  #proofs: readonly ProofOfEnd[] = [];

  constructor(holder: Holder, wish: (wish: Wish) => void, clock: Clock) {
    this.holder = holder;
    this.#wish = wish;
    this.#clock = clock;
  }

  /** Only what the agent reports from now on is a live read. */
  async read(): Promise<ReadGrant> {
    this.#wish({ asksGrant: true });
    return await this.#heard(this.#grants, "report the run grant", () => true);
  }

  async makeKnown(decision: Decision): Promise<ReadGrant> {
    this.#wish({ decision: decision.outcome });
    return await this.#heard(this.#grants, `confirm that it is ${decision.outcome}`, (grant) => {
      const verdict = decide(grant, { kind: "decided", decision });
      return "refused" in verdict ? grant.state !== "Invalid" : verdict.grant === grant;
    });
  }

  async claim(evidence: Claim["evidence"]): Promise<MayRun> {
    const claims =
      evidence === undefined ? "claimed" : evidence === "postCopyComplete" ? evidence : "released";
    this.#wish({ claims });
    return await this.#heard(this.#claims, "claim the guest", () => true);
  }

  /** Proofs of the other side's end that came with the grant. They stay true. */
  proofs(): readonly ProofOfEnd[] {
    return this.#proofs;
  }

  noteGrant(grant: ReadGrant, proofs: readonly ProofOfEnd[] = []): void {
    if (proofs.length > 0) this.#proofs = proofs;
    for (const hear of this.#grants) hear(grant);
  }

  noteClaim(mayRun: MayRun): void {
    for (const hear of this.#claims) hear(mayRun);
  }

  async #heard<T>(
    listeners: Set<(value: T) => void>,
    what: string,
    wanted: (value: T) => boolean,
  ): Promise<T> {
    const over = new AbortController();
    let hear: (value: T) => void = () => {};
    const heard = new Promise<T>((resolve) => {
      hear = (value) => {
        if (wanted(value)) resolve(value);
      };
    });
    listeners.add(hear);
    const late = async (): Promise<never> => {
      await sleep(this.#clock, patience, over.signal);
      const message = `the node agent did not ${what} in ${patience} ms`;
      throw new LauncherError("LAUNCHER_FAILED", message, { path: "noteGrant" });
    };
    try {
      return await Promise.race([heard, late()]);
    } finally {
      listeners.delete(hear);
      over.abort();
    }
  }
}
