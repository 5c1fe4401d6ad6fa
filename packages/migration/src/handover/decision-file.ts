import { join } from "node:path";
import {
  type Decision,
  type DecisionRecord,
  type Outcome,
  type SettleRequest,
  settle,
} from "@virtkit/api/grant";
import type { FileCalls } from "@virtkit/host-primitives/durable";
import { MigrationError } from "../migration-error.ts";
import { checkIdentity, type MigrationIdentity } from "./migration-identity.ts";
import { NumberedFiles, unreadable } from "./numbered-files.ts";

/** What is written down before *begin*, because nobody can find it out afterwards. */
export interface MigrationStart extends MigrationIdentity {
  /** Whether the guest's user had paused it: then nobody resumes it, on either side. */
  readonly paused: boolean;
}

const outcomes: readonly Outcome[] = ["released", "aborted", "committed", "returned"];

/**
 * How one migration was decided, on the disk of its source. Each record is synced before `settle` returns,
 * the first writer wins, and what may follow a record is what the rules of `@virtkit/api/grant` permit.
 * A missing file means undecided; one that cannot be read throws.
 */
export class DecisionFile {
  readonly migrationUID: string;
  readonly #start: NumberedFiles;
  readonly #decisions: NumberedFiles;
  readonly #suspended: NumberedFiles;

  /** `directory` is trusted, and the same one in every life of the source's launcher. */
  constructor(directory: string, migrationUID: string, files?: FileCalls) {
    checkIdentity({ migrationUID, vmiUID: migrationUID, epoch: 0, seq: 0 }, "migration");
    this.migrationUID = migrationUID;
    const folder = join(directory, migrationUID);
    this.#start = new NumberedFiles(folder, "begun", files);
    this.#decisions = new NumberedFiles(folder, "decision", files);
    this.#suspended = new NumberedFiles(folder, "suspended", files);
  }

  /**
   * Begins a migration.
   *
   * @throws MigrationError `MIGRATION_REFUSED` where an earlier life began it: that one is settled, never
   *   finished.
   */
  begin(start: MigrationStart): void {
    const { paused } = start;
    const isNew = this.#start.read().length === 0;
    const decided = this.#decisions.read().at(-1)?.["outcome"];
    if (isNew && decided !== undefined) {
      const message = `the migration ${this.migrationUID} was ${decided} before it began; begin another one`;
      throw new MigrationError("MIGRATION_REFUSED", message, { path: "first-decision" });
    }
    if (this.#start.add(1, { ...checkIdentity(start, "start"), paused })) return;
    const message = `the migration ${this.migrationUID} was begun before; settle it, and begin another one`;
    throw new MigrationError("MIGRATION_REFUSED", message, { path: "begun-here" });
  }

  /** What was written down before *begin*; undefined where nothing began here. */
  start(): MigrationStart | undefined {
    const [found] = this.#start.read();
    if (!found) return undefined;
    const identity = checkIdentity(found, "begun");
    if (typeof found["paused"] !== "boolean" || identity.migrationUID !== this.migrationUID) {
      throw unreadable("begun.1.json", "it is not the start of this migration");
    }
    return { ...identity, paused: found["paused"] };
  }

  /** Notes that the migration itself is about to suspend the guest, so that it can come to its end. */
  noteSuspended(): void {
    this.#suspended.add(1, { migrationUID: this.migrationUID });
  }

  /** Whether the migration has suspended the guest: who goes back resumes it, whatever its state says of a user. */
  get wasSuspended(): boolean {
    return this.#suspended.read().length > 0;
  }

  /** What the disk says; undefined where it says nothing of this migration. */
  read(): DecisionRecord | undefined {
    const last = this.#decisions.read().at(-1);
    const { migrationUID } = this;
    if (!last) return this.start() && { migrationUID };
    const outcome = last["outcome"] as Outcome;
    if (last["migrationUID"] === migrationUID && outcomes.includes(outcome)) {
      return { migrationUID, outcome };
    }
    throw unreadable("decision", "it is not a decision of this migration");
  }

  /** The decision, if there is one: what may be told to others. */
  decision(): Decision | undefined {
    const outcome = this.read()?.outcome;
    return outcome && { migrationUID: this.migrationUID, outcome };
  }

  /**
   * Puts a decision on disk, or finds it there.
   *
   * @throws MigrationError `MIGRATION_REFUSED` where the rules refuse it, `path` being the rule: another
   *   decision was first, or its evidence is missing.
   */
  settle(request: SettleRequest): Decision {
    for (;;) {
      const before = this.read();
      const verdict = settle(before, request);
      if ("refused" in verdict) {
        const { refused, reason, whatAPersonMustCheck: check } = verdict;
        const message = check === undefined ? reason : `${reason}; ${check}`;
        throw new MigrationError("MIGRATION_REFUSED", message, { path: refused });
      }
      const { migrationUID } = this;
      const { outcome } = request;
      if (verdict.record === before) return { migrationUID, outcome };
      // By what was read, not by what is there now: a commit is followed by how it ended, nothing else is.
      const number = before?.outcome === undefined ? 1 : 2;
      if (this.#decisions.add(number, { migrationUID, outcome })) return { migrationUID, outcome };
    }
  }
}
