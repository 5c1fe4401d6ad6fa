import { type Clock, sleep } from "@virtkit/api/clock";
import {
  type Decision,
  decide,
  type Holder,
  type ProofOfEnd,
  type ReadGrant,
} from "@virtkit/api/grant";
import type { MayRun } from "@virtkit/domain-manager";
import type { MigrationReport } from "@virtkit/launcher/channel";
import { launcherFailure } from "./launcher-failure.ts";

/** Milliseconds that a node agent may take. */
const patience = 30_000;

/**
 * The run grant as a launcher sees it: it reports what must be recorded, and waits for what its node agent
 * passes on.
 */
export class AgentNotes {
  readonly holder: Holder;
  readonly #wish: (wish: Pick<MigrationReport, "decision" | "asksGrant" | "claims">) => void;
  readonly #clock: Clock;
  readonly #grants = new Set<(grant: ReadGrant) => void>();
  readonly #claims = new Set<(mayRun: MayRun) => void>();
  /** The agent's proofs of the other side's end. They stay true. */
  proofs: readonly ProofOfEnd[] = [];

  constructor(
    holder: Holder,
    wish: (wish: Pick<MigrationReport, "decision" | "asksGrant" | "claims">) => void,
    clock: Clock,
  ) {
    this.holder = holder;
    this.#wish = wish;
    this.#clock = clock;
  }

  /** Only what the agent reports from now on is a live read. */
  async read(): Promise<ReadGrant> {
    this.#wish({ asksGrant: true });
    return await this.#heard(this.#grants, "report the run grant", () => true);
  }

  /** Resolves with the grant once it shows that nothing more is to be swapped. */
  async makeKnown(decision: Decision): Promise<ReadGrant> {
    this.#wish({ decision: decision.outcome });
    return await this.#heard(this.#grants, `confirm that it is ${decision.outcome}`, (grant) => {
      const verdict = decide(grant, { kind: "decided", decision });
      return "refused" in verdict ? grant.state !== "Invalid" : verdict.grant === grant;
    });
  }

  async claim(claims: NonNullable<MigrationReport["claims"]>): Promise<MayRun> {
    this.#wish({ claims });
    return await this.#heard(this.#claims, "claim the guest", () => true);
  }

  noteGrant(grant: ReadGrant, proofs: readonly ProofOfEnd[] = []): void {
    if (proofs.length > 0) this.proofs = proofs;
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
      throw launcherFailure("LAUNCHER_FAILED", message, "noteGrant");
    };
    try {
      return await Promise.race([heard, late()]);
    } finally {
      listeners.delete(hear);
      over.abort();
    }
  }
}
