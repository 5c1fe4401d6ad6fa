import { join } from "node:path";
import { checkIdentity, type MigrationIdentity } from "../handover/migration-identity.ts";
import { NumberedFiles, unreadable } from "../handover/numbered-files.ts";
import { MigrationError } from "../migration-error.ts";

/** What a target knows about its migration. */
export interface ReceivedMigration extends MigrationIdentity {
  /** Whether the user had paused the guest before; it then stays paused. */
  readonly paused: boolean;
}

/** What the target has heard. `released`: its copy may run. `aborted`: its copy must end. */
export type Heard = "released" | "aborted";

/**
 * What a target received and heard, on its disk: a release is stored before it is acknowledged, and an abort before
 * the copy is destroyed. What was heard first stands.
 */
export class ReceiveFile {
  readonly #received: NumberedFiles;
  readonly #heard: NumberedFiles;
  readonly #resumed: NumberedFiles;
  readonly #started: NumberedFiles;

  /** `directory` is trusted, and every process that acts as the target's launcher uses the same one. */
  constructor(directory: string, migrationUID: string) {
    const folder = join(directory, migrationUID);
    this.#received = new NumberedFiles(folder, "received");
    this.#heard = new NumberedFiles(folder, "heard");
    this.#resumed = new NumberedFiles(folder, "resumed");
    this.#started = new NumberedFiles(folder, "started");
  }

  /** Records that a guest is about to arrive. The first record stands. */
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

  /** Records what was heard. Throws if the opposite was heard before. */
  hear(what: Heard): void {
    if (this.#heard.add(1, { heard: what })) return;
    const before = this.heard();
    if (before === what) return;
    const message = `the migration was already ${before}; it cannot be ${what}`;
    throw new MigrationError("MIGRATION_REFUSED", message, { path: "first-decision" });
  }

  /** Records that libvirt is about to start the copy in post-copy: from then on, it may have run. */
  noteStarted(): void {
    this.#started.add(1, {});
  }

  get wasStarted(): boolean {
    return this.#started.read().length > 0;
  }

  /** Records that the copy runs: from then on, only its user pauses it. */
  noteResumed(): void {
    this.#resumed.add(1, {});
  }

  get wasResumed(): boolean {
    return this.#resumed.read().length > 0;
  }
}
