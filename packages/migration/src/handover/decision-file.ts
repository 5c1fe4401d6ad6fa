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

/** What is recorded before *begin*, because it cannot be found out afterwards. */
export interface MigrationStart extends MigrationIdentity {
  /** Whether the user had paused the guest. If so, neither side resumes it. */
  readonly paused: boolean;
}

const outcomes: readonly Outcome[] = ["released", "aborted", "committed", "returned"];

/**
 * The decision of one migration, on the source's disk. Each record is synced before `settle` returns, the first
 * writer wins, and the rules of `@virtkit/api/grant` decide what may follow a record. A missing file means
 * undecided; an unreadable one throws.
 */
export class DecisionFile {
  readonly migrationUID: string;
  readonly #start: NumberedFiles;
  readonly #decisions: NumberedFiles;
  readonly #suspended: NumberedFiles;

  /** `directory` is trusted, and every process that acts as the source's launcher uses the same one. */
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
   * @throws MigrationError `MIGRATION_REFUSED` if an earlier life began it: that one is settled, never
   *   finished.
   */
  begin(start: MigrationStart): void {
    const { paused } = start;
    const isNew = this.#start.read().length === 0;
    const decided = this.#decisions.read().at(-1)?.["outcome"];
    if (isNew && decided !== undefined) {
      const message = `the migration ${this.migrationUID} was ${decided} before it began; start another one`;
      throw new MigrationError("MIGRATION_REFUSED", message, { path: "first-decision" });
    }
    if (this.#start.add(1, { ...checkIdentity(start, "start"), paused })) return;
    const message = `the migration ${this.migrationUID} has begun before; settle it, and start another one`;
    throw new MigrationError("MIGRATION_REFUSED", message, { path: "begun-here" });
  }

  /** What was recorded before *begin*; undefined if nothing began here. */
  start(): MigrationStart | undefined {
    const [found] = this.#start.read();
    if (!found) return undefined;
    const identity = checkIdentity(found, "begun");
    if (typeof found["paused"] !== "boolean" || identity.migrationUID !== this.migrationUID) {
      throw unreadable("begun.1.json", "it is not the start of this migration");
    }
    return { ...identity, paused: found["paused"] };
  }

  /** Records that the migration itself is about to suspend the guest, so that it can complete. */
  noteSuspended(): void {
    this.#suspended.add(1, { migrationUID: this.migrationUID });
  }

  /**
   * Whether the migration has suspended the guest. If so, going back resumes it, even if it looks paused by a user.
   */
  get wasSuspended(): boolean {
    return this.#suspended.read().length > 0;
  }

  /** What the disk says; undefined if it says nothing about this migration. */
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

  /** The decision, if there is one. Others may learn only of this. */
  decision(): Decision | undefined {
    const outcome = this.read()?.outcome;
    return outcome && { migrationUID: this.migrationUID, outcome };
  }

  /**
   * Puts a decision on disk, or finds it there.
   *
   * @throws MigrationError `MIGRATION_REFUSED` if the rules refuse it, `path` being the rule: another
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
      // Judged by what was read, not by what is there now: only a commit may be followed by another record, its
      // end.
      const number = before?.outcome === undefined ? 1 : 2;
      if (this.#decisions.add(number, { migrationUID, outcome })) return { migrationUID, outcome };
    }
  }
}
