import type { Clock } from "@virtkit/api/clock";
import { type Decision, decodeGrant } from "@virtkit/api/grant";
import type { MayRun } from "@virtkit/domain-manager";
import type {
  GuestMeasure,
  MigrateRequest,
  MigrationReport,
  MigrationVerbs,
  ReceiveRequest,
} from "@virtkit/launcher/channel";
import type { MigrationIdentity } from "@virtkit/migration/handover";
import type { SimulatedGuest } from "../simulated-guest.ts";
import { AgentNotes } from "./agent-notes.ts";
import { launcherFailure, migrationFailure } from "./launcher-failure.ts";
import type { MigrationWires } from "./migration-wires.ts";
import { memoryOf, SimulatedSource } from "./simulated-source.ts";
import { SimulatedTarget } from "./simulated-target.ts";

/** What {@link SimulatedMigrations} works with. */
export interface SimulatedMigrationsOptions {
  readonly guest: SimulatedGuest;
  /** What joins it to the other launcher: the same object on both sides. */
  readonly wires: MigrationWires;
  /** The node that the launcher runs on. */
  readonly node: string;
  readonly clock: Clock;
}

interface Part {
  report: MigrationReport;
  readonly migration: MigrationIdentity;
  readonly notes: AgentNotes;
  source?: SimulatedSource;
  target?: SimulatedTarget;
  readonly over: AbortController;
}

/** Milliseconds from a report until its followers receive it. */
const moment = 20;

type FollowOptions = Parameters<MigrationVerbs["followMigration"]>[1];

/**
 * The migrations of one simulated guest, at most one at a time, with the verbs by which a node agent drives a
 * launcher's migrations. Memory is copied in rounds, which depend on the guest's `dirty` and the wires' bandwidth;
 * socket paths are ignored.
 */
export class SimulatedMigrations implements MigrationVerbs, Disposable {
  readonly #options: SimulatedMigrationsOptions;
  #part: Part | undefined;
  /** Migrations that were aborted before they began. */
  readonly #never = new Set<string>();
  /** The followers of a migration that have received every report. */
  readonly #listeners = new Set<() => void>();
  #waking = false;

  constructor(options: SimulatedMigrationsOptions) {
    this.#options = options;
  }

  async migrate(request: MigrateRequest): Promise<void> {
    const { guest, wires, node, clock } = this.#options;
    this.#assertVmi(request.vmi.metadata?.uid, "vmi.metadata.uid");
    const { migrationUID } = request.migration;
    if (this.#never.has(migrationUID)) {
      const text = `the migration ${migrationUID} was aborted before it began; start another one`;
      throw migrationFailure("MIGRATION_REFUSED", text, "first-decision");
    }
    if (!guest.domain.isActive) {
      throw launcherFailure("LAUNCHER_FAILED", "the guest does not run", "vmi");
    }
    const part = this.#begin(request, "source");
    const { notes, over } = part;
    part.source = new SimulatedSource({
      ...{ request, guest, notes, wires, node, clock, over: over.signal },
      tell: (change) => this.#tell(part, change),
    });
    wires.answer(request.migration.migrationUID, part.source);
  }

  async receiveMigration(request: ReceiveRequest): Promise<void> {
    const { guest, wires, node, clock } = this.#options;
    this.#assertVmi(request.guest.vmi.metadata?.uid, "guest.vmi.metadata.uid");
    const part = this.#begin(request, "target");
    const { notes, over } = part;
    part.target = new SimulatedTarget({
      ...{ request, notes, wires, node, clock, domain: guest.domain, over: over.signal },
      tell: (change) => this.#tell(part, change),
    });
    wires.listen(request.migration.migrationUID, part.target);
  }

  async followMigration(
    { migrationUID, after = 0 }: { readonly migrationUID: string; readonly after?: number },
    { signal }: FollowOptions = {},
  ): Promise<MigrationReport> {
    const part = this.#need(migrationUID);
    while (part.report.revision <= after) await this.#nextNews(signal);
    return part.report;
  }

  /** Resolves soon after something was reported; rejects with the reason of the signal. */
  async #nextNews(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const hear = (): void => {
        signal?.removeEventListener("abort", stop);
        resolve();
      };
      const stop = (): void => {
        this.#listeners.delete(hear);
        reject(signal?.reason);
      };
      this.#listeners.add(hear);
      signal?.addEventListener("abort", stop, { once: true });
    });
  }

  /** Reports within a moment are received together. */
  #wake(): void {
    if (this.#waking || this.#listeners.size === 0) return;
    this.#waking = true;
    this.#options.clock.setTimeout(() => {
      this.#waking = false;
      const listeners = [...this.#listeners];
      this.#listeners.clear();
      for (const hear of listeners) hear();
    }, moment);
  }

  async cancelMigration({
    migrationUID,
    reason = "the node agent asked for it",
  }: {
    readonly migrationUID: string;
    readonly reason?: string;
  }): Promise<void> {
    const { report } = this.#part ?? {};
    const isUnderWay = report !== undefined && report.settled === undefined;
    if (isUnderWay || report?.migrationUID === migrationUID) {
      this.#source(migrationUID).abort(reason);
    } else this.#never.add(migrationUID);
  }

  /** The simulated guest has written to all of its memory, and its disks are not copied. */
  async measureGuest({
    vmi,
  }: Parameters<MigrationVerbs["measureGuest"]>[0]): Promise<GuestMeasure> {
    const { guest } = this.#options;
    this.#assertVmi(vmi.metadata?.uid, "vmi.metadata.uid");
    const memoryBytes = memoryOf({ request: { vmi }, guest });
    const { bytesPerSecond = 0, workingSet = Number.POSITIVE_INFINITY } = guest.script.dirty ?? {};
    const dirtyBytesPerSecond = Math.min(bytesPerSecond, workingSet);
    return { memoryBytes, usedBytes: memoryBytes, diskBytes: 0, dirtyBytesPerSecond };
  }

  async switchToPostCopy({ migrationUID }: { readonly migrationUID: string }): Promise<void> {
    await this.#source(migrationUID).switchToPostCopy();
  }

  async releaseMigration({ migration }: { readonly migration: MigrationIdentity }): Promise<void> {
    const { target } = this.#need(migration.migrationUID);
    if (!target) throw notThat(migration.migrationUID, "target");
    await target.release(migration);
  }

  async migrationDecision({
    migration,
  }: {
    readonly migration: MigrationIdentity;
  }): Promise<Partial<Decision>> {
    const { migrationUID } = migration;
    const { source } = this.#part?.report.migrationUID === migrationUID ? this.#part : {};
    const outcome = source?.record.outcome;
    return outcome ? { migrationUID, outcome } : {};
  }

  async noteGrant({
    migrationUID,
    grant,
    proofs,
  }: Parameters<MigrationVerbs["noteGrant"]>[0]): Promise<void> {
    const part = this.#need(migrationUID);
    if (part.report.asksGrant) this.#tell(part, { asksGrant: false });
    const { vmiUid } = this.#options.guest.identity;
    part.notes.noteGrant(decodeGrant(grant, vmiUid), proofs);
  }

  async noteClaim({
    migrationUID,
    mayRun,
  }: {
    readonly migrationUID: string;
    readonly mayRun: MayRun;
  }): Promise<void> {
    this.#need(migrationUID).notes.noteClaim(mayRun);
  }

  [Symbol.dispose](): void {
    this.#part?.over.abort();
  }

  #begin(
    { migration, holder }: Pick<MigrateRequest, "migration" | "holder">,
    role: MigrationReport["role"],
  ): Part {
    this.#assertVmi(migration.vmiUID, "migration.vmiUID");
    const before = this.#part;
    if (before && before.report.settled === undefined) {
      const text = `the migration ${before.report.migrationUID} is in progress; wait until it has ended`;
      throw launcherFailure("LAUNCHER_BUSY", text, "migration.migrationUID");
    }
    before?.over.abort();
    const { migrationUID } = migration;
    const notes = new AgentNotes(holder, (wish) => this.#tell(part, wish), this.#options.clock);
    const report = { migrationUID, role, revision: 1, step: "asked" } as const;
    const part: Part = { report, migration, notes, over: new AbortController() };
    this.#part = part;
    return part;
  }

  #assertVmi(uid: string | undefined, path: string): void {
    const { vmiUid } = this.#options.guest.identity;
    if (uid === vmiUid) return;
    const text = `${path}: found ${uid ?? "nothing"}, but this launcher is for ${vmiUid}`;
    throw launcherFailure("LAUNCHER_ARGUMENT", text, path);
  }

  #tell(part: Part, change: Partial<MigrationReport>): void {
    const { why, ...known } = part.report;
    // What was wrong with a post-copy that was recovered is over.
    const before = why === undefined || change.outcome === "moved" ? known : { ...known, why };
    part.report = { ...before, ...change, revision: part.report.revision + 1 };
    this.#wake();
  }

  #need(migrationUID: string): Part {
    if (this.#part?.report.migrationUID === migrationUID) return this.#part;
    const text = `migrationUID: this launcher does not take part in the migration ${JSON.stringify(migrationUID)}`;
    throw launcherFailure("LAUNCHER_ARGUMENT", text, "migrationUID");
  }

  #source(migrationUID: string): SimulatedSource {
    const { source } = this.#need(migrationUID);
    if (!source) throw notThat(migrationUID, "source");
    return source;
  }
}

function notThat(migrationUID: string, role: string): Error {
  const text = `this launcher is not the ${role} of the migration ${migrationUID}, or not yet`;
  return launcherFailure("LAUNCHER_ARGUMENT", text, "migrationUID");
}
