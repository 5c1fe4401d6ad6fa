import { type Clock, sleep } from "@virtkit/api/clock";
import {
  type DecisionRecord,
  mayResume,
  maySwitch,
  type SettleRequest,
  settle,
} from "@virtkit/api/grant";
import { quantityFrom } from "@virtkit/api/quantity";
import type { QuantityInput } from "@virtkit/api/schema";
import type { MigrateRequest, MigrationReport } from "@virtkit/launcher/channel";
import type { MigrationError, MigrationProgress } from "@virtkit/migration/source";
import type { GuestMemory } from "../simulated-domain.ts";
import type { SimulatedGuest } from "../simulated-guest.ts";
import type { AgentNotes } from "./agent-notes.ts";
import { type CopyVerdict, judgeCopy, notJudged } from "./judge-copy.ts";
import { migrationFailure } from "./launcher-failure.ts";
import { advanceCopy, type CopyFigures, downtimeOf, drainCopy, newCopy } from "./memory-copy.ts";
import type { MigrationWires, WiredSource, WiredTarget } from "./migration-wires.ts";

/** What a source works with. */
export interface SourceParts {
  readonly request: MigrateRequest;
  readonly guest: SimulatedGuest;
  readonly notes: AgentNotes;
  readonly wires: MigrationWires;
  readonly node: string;
  readonly clock: Clock;
  readonly tell: (change: Partial<MigrationReport>) => void;
  readonly over: AbortSignal;
}

/** Milliseconds between two looks at a copy. */
const tick = 100;
/** Milliseconds from a failed attempt to recover a post-copy to the next one: the first time, and at most. */
const [firstPause, longestPause] = [1_000, 30_000];
const defaultMemory = 256 * 2 ** 20;

type Mode = "PreCopy" | "Paused" | "PostCopy";

/** The source of one migration: five phases, a decision, and a guest that continues or ends accordingly. */
export class SimulatedSource implements WiredSource {
  readonly node: string;
  readonly #parts: SourceParts;
  /** On disk. */
  #record: DecisionRecord;
  #aborted: MigrationError | undefined;
  #mode: Mode = "PreCopy";
  #copy: CopyFigures;
  #startedAt = 0;
  /** Whether the guest's user had paused it. */
  readonly #paused: boolean;
  /** Whether this migration has stopped it. */
  #stopped = false;

  constructor(parts: SourceParts) {
    this.#parts = parts;
    this.node = parts.node;
    const { migrationUID } = parts.request.migration;
    this.#record = { migrationUID };
    this.#paused = parts.guest.domain.status.state === "Paused";
    this.#copy = newCopy(memoryOf(parts));
    void this.#run();
  }

  /** What is on disk. */
  get record(): DecisionRecord {
    return this.#record;
  }

  async decision(): Promise<DecisionRecord> {
    return this.#record;
  }

  /** Decides that the source continues. Throws if it is too late. */
  abort(reason: string): void {
    this.#decide({ outcome: "aborted", ...this.#named, sourceRuns: false });
    this.#aborted ??= migrationFailure(
      "MIGRATION_PHASE_FAILED",
      `aborted: ${reason}`,
      "source/decision",
    );
  }

  /** Commits, and switches once the grant says so. */
  async switchToPostCopy(): Promise<void> {
    const { notes, guest, tell } = this.#parts;
    tell({ step: "commit.before" });
    this.#decide({ outcome: "committed", ...this.#named });
    tell({ step: "commit.after" });
    const known = await notes.makeKnown({ ...this.#named, outcome: "committed" });
    const refused = maySwitch(this.#record, known);
    if (refused) throw migrationFailure("MIGRATION_REFUSED", refused.reason, refused.refused);
    tell({ step: "switch.before" });
    this.#mode = "PostCopy";
    guest.domain.suspend("Postcopy");
    tell({ step: "switch.after" });
  }

  get #named(): { readonly migrationUID: string } {
    return { migrationUID: this.#parts.request.migration.migrationUID };
  }

  #decide(request: SettleRequest): void {
    const settled = settle(this.#record, request);
    if ("refused" in settled) {
      throw migrationFailure("MIGRATION_REFUSED", settled.reason, settled.refused);
    }
    this.#record = settled.record;
  }

  async #run(): Promise<void> {
    try {
      await this.#phases();
    } catch (error) {
      await this.#failed(error as MigrationError);
    }
  }

  async #phases(): Promise<void> {
    const { request, wires, guest, tell, clock } = this.#parts;
    const { migration } = request;
    tell({ step: "begin.before" });
    if (!guest.domain.isActive) throw failed("source/begin", "the guest does not run");
    // Callers get their replies before the phases continue.
    await sleep(clock, 1);
    tell({ step: "begin.after" });
    tell({ step: "prepare.before" });
    await wires.toTarget("prepare", this.node, migration, async (target) => {
      await target.prepare(migration, this.#paused);
    });
    tell({ step: "prepare.after" });
    tell({ step: "perform.before" });
    const memory = await this.#perform();
    tell({ step: "perform.after" });
    if (this.#aborted) throw this.#aborted;
    tell({ step: "finish.before" });
    if (this.#mode === "PostCopy") {
      await this.#completePostCopy(memory);
      return;
    }
    await wires.toTarget("finish", this.node, migration, async (target) => {
      await target.finish(migration, memory, "paused");
    });
    tell({ step: "finish.after" });
    tell({ step: "decision.before" });
    this.#decide({ outcome: "released", ...this.#named, perform: "ok", finish: "ok" });
    tell({ step: "decision.after" });
    await this.#release();
  }

  /** Sends memory until the rest fits the downtime, and then the rest; or switches to post-copy. */
  async #perform(): Promise<GuestMemory> {
    const { guest, clock, wires } = this.#parts;
    const { breaks } = wires;
    this.#startedAt = clock.now();
    let judgement = notJudged;
    for (;;) {
      await sleep(clock, tick);
      this.#check(breaks);
      if (this.#mode === "PostCopy") return guest.domain.capture();
      const bandwidth = this.#bandwidth;
      const wasStopped = this.#isStopped;
      this.#copy = wasStopped
        ? drainCopy(this.#copy, bandwidth, tick)
        : advanceCopy(this.#copy, this.#rates(bandwidth), tick);
      this.#report();
      const { maxDowntimeMs } = this.#parts.request.options;
      if (downtimeOf(this.#copy, bandwidth) <= maxDowntimeMs) return await this.#switchOver(breaks);
      const mode = this.#mode === "Paused" ? "Paused" : "PreCopy";
      const moment = { copy: this.#copy, elapsed: this.#elapsed, bandwidth, mode } as const;
      judgement = judgeCopy(judgement, moment, this.#parts.request.options);
      await this.#act(judgement.verdict);
    }
  }

  get #isStopped(): boolean {
    return this.#parts.guest.domain.status.state !== "Running";
  }

  /** Throws if the migration was aborted, its stream broke, or its guest ended. */
  #check(breaks: number): void {
    const { guest, wires } = this.#parts;
    if (this.#aborted) throw this.#aborted;
    if (wires.breaks !== breaks) throw failed("source/perform", "the stream broke");
    if (!guest.domain.isActive) throw failed("source/perform", "the guest has ended");
  }

  async #act(verdict: CopyVerdict): Promise<void> {
    if (verdict.action === "go-on") return;
    if (verdict.action === "abort") this.abort(verdict.reason);
    else if (verdict.action === "postcopy") await this.switchToPostCopy();
    else {
      this.#mode = "Paused";
      this.#stop();
    }
  }

  /** The guest is paused while the rest is sent. */
  async #switchOver(breaks: number): Promise<GuestMemory> {
    const { guest, clock } = this.#parts;
    this.#stop();
    for (;;) {
      const bandwidth = this.#bandwidth;
      const rest = Math.min(tick, Math.max(1, downtimeOf(this.#copy, bandwidth)));
      await sleep(clock, rest);
      this.#check(breaks);
      this.#copy = drainCopy(this.#copy, bandwidth, rest);
      if (this.#copy.remaining < 1) return guest.domain.capture();
    }
  }

  #stop(): void {
    const { domain } = this.#parts.guest;
    if (domain.status.state !== "Running") return;
    domain.suspend("Migration");
    this.#stopped = true;
  }

  /** Tells the target and the grant; whichever comes first lets the source end. */
  async #release(): Promise<void> {
    const { request, wires, notes, guest, tell } = this.#parts;
    const { migration } = request;
    tell({ step: "release.before" });
    const telling = wires.toTarget("release", this.node, migration, async (target) => {
      await target.release(migration);
    });
    const swapping = notes.makeKnown({ ...this.#named, outcome: "released" });
    const ways = [telling, swapping];
    for (;;) {
      try {
        await Promise.any(ways);
        break;
      } catch {
        // Nobody has the release yet: the source waits, paused, and tells it again.
        ways.push(notes.makeKnown({ ...this.#named, outcome: "released" }));
      }
    }
    tell({ step: "release.after" });
    tell({ step: "confirm.before" });
    guest.domain.end("Migrated");
    tell({ step: "confirm.after" });
    await Promise.allSettled(ways);
    tell({ outcome: "moved", settled: "ended" });
  }

  /** The target runs, and the rest follows. */
  async #completePostCopy(memory: GuestMemory): Promise<void> {
    const { migration } = this.#parts.request;
    await this.#sendRest("finish", (target) => target.finish(migration, memory, "postCopy"));
    this.#leave();
  }

  async #sendRest(
    message: "finish" | "recover",
    act: (target: WiredTarget) => Promise<void>,
  ): Promise<void> {
    const { request, wires, guest, clock } = this.#parts;
    const { migration } = request;
    const { breaks } = wires;
    const target = wires.stream(migration.migrationUID);
    const finishing = wires.toTarget(message, this.node, migration, act);
    finishing.catch(() => {});
    while (this.#copy.remaining + this.#copy.dirtied >= 1) {
      await sleep(clock, tick);
      if (wires.breaks !== breaks) {
        target?.breaks();
        guest.domain.suspend("PostcopyFailed");
        throw failed("target/finish", "the stream of post-copy broke");
      }
      this.#copy = drainCopy(this.#copy, this.#bandwidth, tick);
      this.#report();
    }
    target?.complete();
    await finishing;
  }

  #leave(): void {
    const { guest, tell } = this.#parts;
    tell({ step: "finish.after" });
    tell({ step: "confirm.before" });
    guest.domain.end("Migrated");
    tell({ step: "confirm.after" });
    tell({ outcome: "moved", settled: "ended" });
  }

  /** Goes on with a post-copy that broke, as soon as a stream can be made; nothing is destroyed before. */
  async #recover(): Promise<void> {
    const { tell, guest, clock, over } = this.#parts;
    const why = "the memory is on both hosts: recover the post-copy";
    tell({ why });
    for (let pause = firstPause; guest.domain.isActive; pause = Math.min(2 * pause, longestPause)) {
      try {
        await this.#tryToRecover();
        this.#leave();
        return;
      } catch (error) {
        tell({ why: `${why}; the last attempt failed: ${(error as MigrationError).message}` });
      }
      await sleep(clock, pause, over);
    }
  }

  async #tryToRecover(): Promise<void> {
    const { request, wires, guest } = this.#parts;
    const { migration } = request;
    if (!wires.canStream(this.node, migration.migrationUID)) {
      throw failed("source/perform", "no stream can be made to the target");
    }
    guest.domain.suspend("Postcopy");
    await this.#sendRest("recover", (target) => target.recover(migration));
  }

  async #failed(error: MigrationError): Promise<void> {
    const { tell } = this.#parts;
    const why = (this.#aborted ?? error).message;
    if (this.#record.outcome === "committed" && this.#mode === "PostCopy") {
      tell({ outcome: "broken", why });
      // Its launcher has ended: nobody is left to recover it.
      await this.#recover().catch(() => {});
      return;
    }
    if (this.#record.outcome === undefined) {
      this.#decide({ outcome: "aborted", ...this.#named, sourceRuns: false });
    } else if (this.#record.outcome === "committed") {
      this.#decide({ outcome: "returned", ...this.#named, neverSwitched: true });
    }
    const settled = this.#goOn();
    await this.#tellAborted();
    tell({ outcome: "stayed", why });
    const outcome = this.#record.outcome ?? "aborted";
    // A node agent that does not answer finds the decision in the report.
    await this.#parts.notes.makeKnown({ ...this.#named, outcome }).catch(() => {});
    tell({ settled });
  }

  /** Resumes a source that is paused because of this migration, and no other. */
  #goOn(): "runs" | "paused" | "ended" {
    const { guest, notes } = this.#parts;
    const { domain } = guest;
    if (!domain.isActive) return "ended";
    if (domain.status.state === "Running") return "runs";
    const { holder } = notes;
    const refused = mayResume({ as: "source", holder, record: this.#record, grant: undefined });
    if (this.#paused || !this.#stopped || refused) return "paused";
    domain.resume();
    return "runs";
  }

  async #tellAborted(): Promise<void> {
    const { request, wires } = this.#parts;
    const { migration } = request;
    await wires
      .toTarget("abort", this.node, migration, async (target) => await target.abort(migration))
      // A target that does not hear it asks by itself.
      .catch(() => {});
  }

  get #elapsed(): number {
    return this.#parts.clock.now() - this.#startedAt;
  }

  get #bandwidth(): number {
    const { request, wires } = this.#parts;
    // QEMU's limit is that of pre-copy; after the switch it sends as fast as it can.
    const limit = this.#mode === "PostCopy" ? 0 : bytesOf(request.options.bandwidth);
    return wires.rate(this.node, request.migration.migrationUID, limit);
  }

  #rates(bandwidth: number): Parameters<typeof advanceCopy>[1] {
    const { bytesPerSecond = 0, workingSet = this.#copy.total } =
      this.#parts.guest.script.dirty ?? {};
    const { allowAutoConverge: autoConverge } = this.#parts.request.options;
    return { bandwidth, dirty: bytesPerSecond, workingSet, autoConverge };
  }

  #report(): void {
    const { guest, tell } = this.#parts;
    const { total, transferred, remaining, iteration, remainingAtStart, throttlePercent } =
      this.#copy;
    const bandwidth = this.#bandwidth;
    const expected = downtimeOf(this.#copy, bandwidth);
    const phase =
      this.#mode === "PostCopy" ? "postcopy" : this.#mode === "Paused" ? "paused" : "memory";
    const progress: MigrationProgress = {
      ...{ phase, mode: this.#mode, elapsedMs: this.#elapsed, isStale: false },
      ...{ total, transferred, remaining, iteration, remainingAtStart, throttlePercent },
      ...{ bytesPerSecond: bandwidth, momentaryBytesPerSecond: bandwidth },
      dirtyBytesPerSecond: guest.script.dirty?.bytesPerSecond ?? 0,
      ...(Number.isFinite(expected) ? { expectedDowntimeMs: Math.ceil(expected) } : {}),
    };
    tell({ progress });
  }
}

/** Bytes of a guest's memory: what its script says, else its VMI. */
export function memoryOf({
  request,
  guest,
}: {
  readonly request: Pick<MigrateRequest, "vmi">;
  readonly guest: SimulatedGuest;
}): number {
  if (guest.script.memory !== undefined) return guest.script.memory;
  const { guest: wanted } = request.vmi.spec.domain.memory ?? {};
  return wanted === undefined || wanted === null ? defaultMemory : bytesOf(wanted) || defaultMemory;
}

function bytesOf(amount: QuantityInput): number {
  return Number(quantityFrom(amount).scaledValue(0));
}

function failed(path: string, message: string): MigrationError {
  return migrationFailure("MIGRATION_PHASE_FAILED", message, path);
}
