import { type Clock, sleep } from "@virtkit/api/clock";
import { isSameHolder, mayDestroy, mayResume, type ReadGrant } from "@virtkit/api/grant";
import type { MigrationReport, ReceiveRequest } from "@virtkit/launcher/channel";
import type { MigrationIdentity } from "@virtkit/migration/handover";
import type { GuestMemory, SimulatedDomain } from "../simulated-domain.ts";
import type { AgentNotes } from "./agent-notes.ts";
import { migrationFailure } from "./launcher-failure.ts";
import { assertSameMigration } from "./migration-identity.ts";
import type { CopyKind, MigrationWires, WiredTarget } from "./migration-wires.ts";

/** What a target works with. */
export interface TargetParts {
  readonly request: ReceiveRequest;
  readonly domain: SimulatedDomain;
  readonly notes: AgentNotes;
  readonly wires: MigrationWires;
  readonly node: string;
  readonly clock: Clock;
  readonly tell: (change: Partial<MigrationReport>) => void;
  readonly over: AbortSignal;
}

/** Milliseconds between two queries of a target that has not heard the decision. */
const interval = 5_000;

/** The target of one migration: its copy stays paused until a release. */
export class SimulatedTarget implements WiredTarget {
  readonly node: string;
  readonly #parts: TargetParts;
  /** On disk. */
  #heard: "released" | "aborted" | undefined;
  #paused = false;
  #resumed = false;
  #settled = false;
  /** In post-copy: whether all of its memory is here. */
  #complete: (() => void) | undefined;
  #breaks: ((error: Error) => void) | undefined;
  #isIncomplete = false;

  constructor(parts: TargetParts) {
    this.#parts = parts;
    this.node = parts.node;
    void this.#settleUntilDone();
  }

  async prepare(migration: MigrationIdentity, paused: boolean): Promise<void> {
    const { domain, request, tell } = this.#parts;
    this.#assertOpen(migration);
    this.#paused = paused;
    tell({ step: "prepare.before" });
    domain.receive(request.guest.vmi, request.domain);
    tell({ step: "prepare.after" });
  }

  async finish(
    migration: MigrationIdentity,
    memory: GuestMemory,
    how: "paused" | "postCopy",
  ): Promise<void> {
    const { domain, tell } = this.#parts;
    this.#assertOpen(migration);
    if (this.#kind === "absent") {
      throw migrationFailure("MIGRATION_PHASE_FAILED", "there is no copy here", "target/finish");
    }
    tell({ step: "finish.before" });
    domain.adopt(memory);
    if (how === "postCopy") await this.#runIncomplete();
    tell({ step: "finish.after" });
    if (how === "postCopy") void this.#conclude("postCopyComplete");
  }

  async recover(migration: MigrationIdentity): Promise<void> {
    this.#assertOpen(migration);
    if (this.#kind !== "incomplete") {
      const message = `the copy is ${this.#kind}: there is nothing to recover`;
      throw migrationFailure("MIGRATION_REFUSED", message, "target/prepare");
    }
    await this.#runIncomplete();
    void this.#conclude("postCopyComplete");
  }

  async release(migration: MigrationIdentity): Promise<void> {
    assertSameMigration(this.#parts.request.migration, migration);
    this.#parts.tell({ step: "release.before" });
    this.#heard = "released";
    void this.#conclude("released");
    this.#parts.tell({ step: "release.after" });
  }

  async abort(migration: MigrationIdentity): Promise<void> {
    assertSameMigration(this.#parts.request.migration, migration);
    if (this.#kind === "incomplete") {
      const message = "the copy runs in post-copy; it is not destroyed";
      throw migrationFailure("MIGRATION_REFUSED", message, "destroy-unnamed");
    }
    this.#heard = "aborted";
    this.#destroy();
  }

  complete(): void {
    this.#complete?.();
  }

  breaks(): void {
    this.#parts.domain.stall();
    this.#breaks?.(migrationFailure("MIGRATION_PHASE_FAILED", "the stream of post-copy broke"));
  }

  get #kind(): CopyKind {
    const { state } = this.#parts.domain.status;
    if (!this.#parts.domain.isActive) return "absent";
    if (this.#isIncomplete) return "incomplete";
    return state === "Running" ? "whole" : "paused";
  }

  /** From the switch on it runs, and fetches what it lacks. */
  async #runIncomplete(): Promise<void> {
    this.#isIncomplete = true;
    if (!this.#paused) this.#parts.domain.resume();
    await new Promise<void>((resolve, reject) => {
      this.#complete = resolve;
      this.#breaks = reject;
    });
    this.#isIncomplete = false;
  }

  /** Runs the copy and claims it; what fails is retried by {@link #settleUntilDone}. */
  async #conclude(how: NonNullable<MigrationReport["claims"]>): Promise<void> {
    const { notes, tell, request } = this.#parts;
    const { migrationUID } = request.migration;
    if (how === "released") {
      const release = { migrationUID, outcome: "released" } as const;
      if (this.#heard !== "released" || mayResume({ as: "target", migrationUID, release })) return;
      if (!this.#resume()) return;
    }
    try {
      tell({ step: "claim.before" });
      await notes.claim(how);
      tell({ step: "claim.after" });
      this.#end("runs");
    } catch {
      // The node agent did not claim: it is asked again.
    }
  }

  /** Once. A guest that its user had paused stays so. */
  #resume(): boolean {
    const { domain, tell } = this.#parts;
    if (this.#resumed) return true;
    if (!domain.isActive) return false;
    tell({ step: "resume.before" });
    if (this.#paused) domain.suspend("User");
    else domain.resume();
    this.#resumed = true;
    tell({ step: "resume.after" });
    return true;
  }

  async #settleUntilDone(): Promise<void> {
    const { clock, over } = this.#parts;
    while (!over.aborted && !this.#settled) {
      await sleep(clock, interval, over).catch(() => {});
      if (over.aborted || this.#settled) return;
      // What is not answered now is asked again.
      await this.#settle().catch(() => {});
    }
  }

  async #settle(): Promise<void> {
    const { notes } = this.#parts;
    if (this.#heard === undefined && !this.#isIncomplete) await this.#find();
    if (this.#heard === "released") await this.#conclude("released");
    else if (this.#heard === "aborted") this.#destroy();
    else if (this.#kind === "whole") {
      const grant = await notes.read();
      await this.#conclude(grant.state === "Committed" ? "postCopyComplete" : "claimed");
    }
  }

  /** Looks for a decision that was not delivered. */
  async #find(): Promise<void> {
    const { wires, node, request, notes } = this.#parts;
    const { migration } = request;
    const told = await wires
      .toSource("decision", node, migration, async (source) => await source.decision(migration))
      .catch(() => undefined);
    const grant = await notes.read();
    if (this.#heard !== undefined) return;
    if (told?.outcome === "released" || this.#isReleased(grant)) this.#heard = "released";
    else if (this.#kind === "whole" || this.#isIncomplete) return;
    else if (told?.outcome === "aborted" || told?.outcome === "returned") this.#heard = "aborted";
    else {
      const { holder, proofs } = notes;
      const asked = {
        holder,
        grant,
        live: true,
        released: false,
        proofs,
        by: "agent",
      } as const;
      if (mayDestroy(asked) === undefined) this.#heard = "aborted";
    }
  }

  #isReleased(grant: ReadGrant): boolean {
    const { migration } = this.#parts.request;
    return (
      grant.state === "Released" &&
      grant.migrationUID === migration.migrationUID &&
      grant.epoch === migration.epoch &&
      isSameHolder(grant.target, this.#parts.notes.holder)
    );
  }

  #destroy(): void {
    const { domain } = this.#parts;
    domain.end("Destroyed");
    domain.undefine();
    this.#end("ended");
  }

  #end(settled: "runs" | "ended"): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#parts.tell({ outcome: settled, settled });
  }

  /** A copy that was released runs, and one that was aborted has ended: no phase touches it again. */
  #assertOpen(migration: MigrationIdentity): void {
    assertSameMigration(this.#parts.request.migration, migration);
    if (this.#heard === undefined) return;
    const message = `the migration was already ${this.#heard}; nothing was changed`;
    throw migrationFailure("MIGRATION_REFUSED", message, "first-decision");
  }
}
