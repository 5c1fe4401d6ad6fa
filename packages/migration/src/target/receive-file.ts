import { join } from "node:path";
import { checkIdentity, type MigrationIdentity } from "../handover/migration-identity.ts";
import { NumberedFiles, unreadable } from "../handover/numbered-files.ts";
import { MigrationError } from "../migration-error.ts";

/** What a target knows of its migration. */
export interface ReceivedMigration extends MigrationIdentity {
  /** Whether the guest's user had paused it before: then it stays so. */
  readonly paused: boolean;
}

/** What the target has heard. `released`: its copy may run. `aborted`: its copy is to end. */
export type Heard = "released" | "aborted";

/**
 * What a target received and heard, on its disk: a release is here before it is acknowledged, and an abort
 * before the copy is destroyed. What was heard first stands.
 */
export class ReceiveFile {
  readonly #received: NumberedFiles;
  readonly #heard: NumberedFiles;
  readonly #resumed: NumberedFiles;

  /** `directory` is trusted, and the same one in every life of the target's launcher. */
  constructor(directory: string, migrationUID: string) {
    const folder = join(directory, migrationUID);
    this.#received = new NumberedFiles(folder, "received");
    this.#heard = new NumberedFiles(folder, "heard");
    this.#resumed = new NumberedFiles(folder, "resumed");
  }

  /** Notes that a guest is about to come. What was noted first stands. */
  receive(migration: ReceivedMigration): void {
    this.#received.add(1, migration);
  }

  received(): ReceivedMigration | undefined {
    const [found] = this.#received.read();
    if (!found) return undefined;
    return { ...checkIdentity(found, "received"), paused: found["paused"] === true };
  }

  heard(): Heard | undefined {
    const [found] = this.#heard.read();
    if (!found) return undefined;
    const what = found["heard"];
    if (what === "released" || what === "aborted") return what;
    throw unreadable("heard.1.json", "it is neither a release nor an abort");
  }

  /** Notes what was heard. Throws where the opposite was heard before. */
  hear(what: Heard): void {
    if (this.#heard.add(1, { heard: what })) return;
    const before = this.heard();
    if (before === what) return;
    const message = `the migration was ${before} before; it cannot be ${what}`;
    throw new MigrationError("MIGRATION_REFUSED", message, { path: "first-decision" });
  }

  /** Notes that the copy runs: from then on it is its user who pauses it. */
  noteResumed(): void {
    this.#resumed.add(1, {});
  }

  get wasResumed(): boolean {
    return this.#resumed.read().length > 0;
  }
}
