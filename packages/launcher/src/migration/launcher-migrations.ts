import { rmSync } from "node:fs";
import { type Clock, realClock, until, wallTime } from "@virtkit/api/clock";
import { type Decision, decodeGrant } from "@virtkit/api/grant";
import { describeError, type Observers, silentLog } from "@virtkit/api/observe";
import type { IncomingGuest, MayRun, WantedGuest } from "@virtkit/domain-manager";
import type { CallOptions, DomainRef, Libvirt } from "@virtkit/domain-manager/libvirt";
import type { ControlHandler, MigrationIdentity } from "@virtkit/migration/handover";
import type {
  MigrationOutcome,
  SettledSource,
  SourceMigration,
  SourceSeam,
  WaitingSource,
} from "@virtkit/migration/source";
import type {
  MigrationReceiver,
  ReceivedOutcome,
  SettledTarget,
  TargetSeam,
} from "@virtkit/migration/target";
import { LauncherError } from "../launcher-error.ts";
import { AgentGrant } from "./agent-grant.ts";
import type {
  GuestMeasure,
  MigrateRequest,
  MigrationReport,
  MigrationVerbs,
  ReceiveRequest,
} from "./migration-verbs.ts";
import { PartFiles, type PartRecord } from "./part-file.ts";
import { dial, listen, reconnected } from "./part-links.ts";
import { givenBack, planFor } from "./plan-guest.ts";

/** The environment of {@link LauncherMigrations}. */
export interface LauncherMigrationsOptions extends Observers {
  /** UID of the VMI that the launcher was started for, and the name of its domain. */
  readonly vmiUID: string;
  readonly domain: string;
  /** Opens a separate connection for a migration to the launcher's libvirtd. */
  connect(): Promise<Libvirt>;
  /** Where decisions are kept: the same directory across restarts of the launcher. */
  readonly directory: string;
  /**
   * Creates what a guest needs here besides its memory, and returns what this launcher would start
   * itself.
   */
  prepareGuest(guest: WantedGuest): Promise<IncomingGuest>;
  readonly clock?: Clock;
  /** The date and time. Default: the host's. */
  readonly now?: () => Date;
}

/** One migration that this launcher takes part in. */
interface Part {
  report: MigrationReport;
  readonly grant: AgentGrant;
  readonly migration: MigrationIdentity;
  source?: SourceMigration;
  target?: MigrationReceiver;
  readonly closing: (() => unknown)[];
  /** Whether an earlier process of this launcher began it. */
  isResumed?: boolean;
  /** Aborted when nobody follows it any more. */
  readonly over: AbortController;
}

const restarted = "this launcher was restarted during the migration";

/**
 * The migrations of one launcher, at most one at a time, as a node agent drives them. The code for
 * migrations is loaded when the first one begins: most launchers never move their guest.
 */
export class LauncherMigrations implements MigrationVerbs, AsyncDisposable {
  readonly #options: LauncherMigrationsOptions;
  readonly #clock: Clock;
  readonly #files: PartFiles;
  #part: Part | undefined;
  /** Why nobody knows whether an earlier process of this launcher took part in a migration. */
  #unknown: LauncherError | undefined;

  constructor(options: LauncherMigrationsOptions) {
    this.#options = options;
    this.#clock = options.clock ?? realClock;
    this.#files = new PartFiles(options.directory);
  }

  /**
   * Takes up the migration of an earlier process of this launcher, if it had begun, and settles it in the background by what
   * is on disk. Call it before the node agent may ask anything: a launcher that knows nothing of a migration may be dismissed.
   */
  async resume(): Promise<void> {
    const { directory, log = silentLog } = this.#options;
    try {
      if (this.#files.isEmpty) return;
      const { decisionOf, hasBegun } = await import("./resumed-part.ts");
      const found = this.#files.last((record) => hasBegun(directory, record));
      if (!found) return;
      const { role, migration, holder } = found.record;
      const part = this.#newPart(migration, role, holder);
      part.isResumed = true;
      this.#part = part;
      if (found.report) {
        part.report = found.report;
        return;
      }
      const { migrationUID } = migration;
      log.warn({ migrationUID, role }, "migration: this launcher was restarted, and settles it");
      const decision = role === "source" ? decisionOf(directory, migration) : {};
      this.#tell(part, { step: "restarted", ...decision });
      void this.#patient(() => this.#goOn(part, found.record));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#unknown = new LauncherError("LAUNCHER_FAILED", why, { path: "resume", cause: error });
      log.error({ error: describeError(error) }, "migration: an earlier one cannot be settled");
    }
  }

  /** Settles the part of an earlier process; whether the other side can reach this one does not matter for that. */
  async #goOn(part: Part, record: PartRecord): Promise<void> {
    const { directory, domain: name, log = silentLog } = this.#options;
    const [handover, resumed] = await Promise.all([
      import("@virtkit/migration/handover"),
      import("./resumed-part.ts"),
    ]);
    const [libvirt, resume] = await Promise.all([
      reconnected(part, this.#options),
      reconnected(part, this.#options),
    ]);
    const link = new handover.RedialingLink(() => dial(record.peer));
    part.closing.push(() => link.close());
    const around = { directory, libvirt, link, grant: part.grant, log };
    const serve = async (handler: ControlHandler): Promise<void> => {
      try {
        // The earlier process has left its socket behind.
        rmSync(record.serve, { force: true });
        await listen(part, record.serve, handler, handover);
      } catch (error) {
        log.warn(
          { error: describeError(error) },
          "migration: a request of the other side could not be answered",
        );
      }
    };
    if (record.role === "target") {
      const at = (step: TargetSeam): void => this.#tell(part, { step });
      const target = resumed.resumedTarget(record, { ...around, name, resume, at });
      part.target = target.receiver;
      void this.#followTarget(part, target.receiver.outcome, (signal) =>
        target.follow({ clock: this.#clock, signal }),
      );
      await serve(target.handler);
      return;
    }
    const source = resumed.resumedSource(record, around);
    await serve(source.handler);
    const settled = await source.follow({
      ...{ clock: this.#clock, signal: part.over.signal },
      onWait: (waiting) => this.#tellBroken(part, waiting),
    });
    if (!settled) return;
    const { outcome } = settled.record;
    const isMoved = outcome === "released" || outcome === "committed";
    this.#forgetWhy(part);
    this.#tell(part, {
      ...(isMoved ? { outcome: "moved" } : { outcome: "stayed", why: restarted }),
      settled: settled.source,
    });
  }

  /** A post-copy that was broken, or breaks, after a restart: the plan was only in the earlier process. */
  #tellBroken(part: Part, { for: what, why }: WaitingSource): void {
    if (what !== "recovery" && what !== "coldStart") return;
    const told = `${why}; ${restarted}, and does not recover it by itself`;
    if (part.report.why !== told) this.#tell(part, { outcome: "broken", why: told });
  }

  async migrate(request: MigrateRequest): Promise<void> {
    const { migration, peer, serve } = request;
    this.#assertVmi(request.vmi, "vmi.metadata.uid");
    const part = this.#begin(migration, "source", request.holder);
    await this.#guarded(part, async () => {
      const [handover, source] = await Promise.all([
        import("@virtkit/migration/handover"),
        import("@virtkit/migration/source"),
      ]);
      const { connect: connected, directory, log } = this.#options;
      const [libvirt, long] = await Promise.all([connected(), connected()]);
      part.closing.push(
        () => libvirt.close(),
        () => long.close(),
      );
      const { dom } = await libvirt.call("domainLookupByName", { name: this.#options.domain });
      const { state } = await libvirt.call("domainGetState", { dom });
      const paused = state === "paused";
      const plugged = { libvirt, dom, clock: this.#clock };
      const given = await givenBack(source, plugged);
      await source.unplugHostDevices(plugged, given);
      const plugAgain = async (): Promise<void> => {
        // One that did not begin, or stays, has its devices again; one that moved gets others where it is.
        if (part.report.outcome !== "moved") await source.plugHostDevices(plugged, given);
      };
      part.closing.push(plugAgain);
      const plan = await planFor(request, source, { libvirt, dom, paused });
      await listen(part, serve, handover.serveSource(directory), handover);
      const link = new handover.RedialingLink(() => dial(peer));
      part.closing.push(() => link.close());
      const parts = {
        ...{ libvirt, long, domain: dom.uuid, migration, grant: part.grant, log },
        decision: new handover.DecisionFile(directory, migration.migrationUID),
        target: handover.targetOver(link),
        ...{ paused, clock: this.#clock },
        at: (step: SourceSeam) => this.#tell(part, { step }),
        supervise: source.superviseByPlan(plan, {
          ...{ libvirt, dom, log, clock: this.#clock },
          onProgress: ({ verdict: _, ...progress }) => this.#tell(part, { progress }),
        }),
      };
      const own = { migration, holder: request.holder, domain: dom.uuid, peer, serve };
      this.#files.begin({ role: "source", ...own });
      const { flags, params } = plan;
      const driven = { flags, params };
      part.source = source.driveMigration(driven, parts);
      const outcome = part.source.outcome.then(async (ended) => {
        if (ended.outcome === "moved") await this.#tellDowntime(part, libvirt, dom);
        return ended;
      });
      const { recoverPostCopy } = source;
      const follow = {
        ...{ clock: this.#clock, signal: part.over.signal },
        recover: () => this.#recover(part, (long) => recoverPostCopy(driven, { ...parts, long })),
        onWait: ({ why }: WaitingSource) => this.#tellWhy(part, why),
      };
      void this.#followSource(part, outcome, async () => {
        return await source.followSource(parts, follow);
      }).then(() => this.#patient(plugAgain));
    });
  }

  async measureGuest(
    { vmi, seconds }: { readonly vmi: MigrateRequest["vmi"]; readonly seconds: number },
    { signal }: CallOptions = {},
  ): Promise<GuestMeasure> {
    this.#assertVmi(vmi, "vmi.metadata.uid");
    const [{ measureGuest }, { copiedDisks, isBlockMigration }, { parseDomain }] =
      await Promise.all([
        import("./measure-guest.ts"),
        import("@virtkit/migration/source"),
        import("@virtkit/converter"),
      ]);
    const { log } = this.#options;
    const libvirt = await this.#options.connect();
    try {
      const { dom } = await libvirt.call("domainLookupByName", { name: this.#options.domain });
      const { xml } = await libvirt.call("domainGetXmlDesc", { dom, flags: ["migratable"] });
      const disks = isBlockMigration(vmi) ? copiedDisks(parseDomain(xml), vmi) : [];
      return await measureGuest({ libvirt, dom, disks, seconds, clock: this.#clock, log, signal });
    } finally {
      await libvirt.close();
    }
  }

  async receiveMigration(request: ReceiveRequest): Promise<void> {
    const { migration, domain, guest, listen: listening, listenDisks, peer, serve } = request;
    const { sizes = {}, encrypted } = request;
    this.#assertVmi(guest.vmi, "guest.vmi.metadata.uid");
    const part = this.#begin(migration, "target", request.holder);
    await this.#guarded(part, async () => {
      const [handover, target, { copiedDisks }] = await Promise.all([
        import("@virtkit/migration/handover"),
        import("@virtkit/migration/target"),
        import("@virtkit/migration/source"),
      ]);
      const { connect: connected, directory, log } = this.#options;
      const incoming = await this.#options.prepareGuest(guest);
      const [libvirt, resume] = await Promise.all([connected(), connected()]);
      part.closing.push(
        () => libvirt.close(),
        () => resume.close(),
      );
      const link = new handover.RedialingLink(() => dial(peer));
      part.closing.push(() => link.close());
      const parts = {
        ...{ libvirt, resume, migration, listen: listening, grant: part.grant, log, encrypted },
        domain: { name: this.#options.domain, uuid: domain },
        file: new target.ReceiveFile(directory, migration.migrationUID),
        source: handover.sourceOver(link),
        ...(listenDisks && {
          copied: { listen: listenDisks, disks: copiedDisks(incoming.domain, guest.vmi) },
        }),
        destinationXml: async (sourceXml: string) => {
          const own = target.withVolumeSizes(incoming.domain, sizes);
          const xml = target.destinationXml({ vmi: guest.vmi, sourceXml, own });
          await incoming.complete(sourceXml);
          return xml;
        },
        at: (step: TargetSeam) => this.#tell(part, { step }),
      };
      const own = { migration, holder: request.holder, domain, peer, serve };
      this.#files.begin({ role: "target", ...own, listen: listening, encrypted });
      part.target = new target.MigrationReceiver(parts);
      void this.#followTarget(part, part.target.outcome, (signal) =>
        target.followTarget(parts, { clock: this.#clock, signal }),
      );
      await listen(part, serve, handover.serveTarget(part.target), handover);
    });
  }

  /** A source has ended when it is settled: libvirt may have to come back first, or a release may have to arrive. */
  async #followSource(
    part: Part,
    driven: Promise<MigrationOutcome>,
    settle: () => Promise<SettledSource | undefined>,
  ): Promise<void> {
    const ended = await driven;
    const { outcome, settled: found } = ended;
    this.#tell(part, { outcome, ...("error" in ended ? { why: ended.error.message } : {}) });
    if (found?.source === "waits") this.#tellWhy(part, found.why);
    const isOver = found !== undefined && found.source !== "waits";
    const settled = isOver ? found : await this.#patient(settle);
    if (!settled) return;
    // A post-copy that broke has its end only when somebody else has claimed the guest: it was recovered.
    const isMoved = outcome === "broken" && settled.source === "ended";
    if (isMoved) this.#forgetWhy(part);
    this.#tell(part, { ...(isMoved ? { outcome: "moved" } : {}), settled: settled.source });
  }

  /** A connection for each attempt: libvirt drops what one began when its connection is closed. */
  async #recover({ over }: Part, attempt: (long: Libvirt) => Promise<unknown>): Promise<void> {
    over.signal.throwIfAborted();
    const long = await this.#options.connect();
    const close = (): void => void long.close();
    over.signal.addEventListener("abort", close, { once: true });
    try {
      await attempt(long);
    } finally {
      over.signal.removeEventListener("abort", close);
      await long.close();
    }
  }

  /** Reports what must be done about a broken post-copy. */
  #tellWhy(part: Part, why: string): void {
    if (part.report.outcome !== "broken" || part.report.why === why) return;
    this.#tell(part, { why });
  }

  #forgetWhy(part: Part): void {
    const { why: _, ...report } = part.report;
    part.report = report;
  }

  /** libvirt keeps the statistics of a completed migration. */
  async #tellDowntime(part: Part, libvirt: Libvirt, dom: DomainRef): Promise<void> {
    const { log = silentLog } = this.#options;
    try {
      const flags = ["completed", "keepCompleted"] as const;
      const { params } = await libvirt.call(
        "domainGetJobStats",
        { dom, flags },
        { timeout: 2_000 },
      );
      const { downtime } = params;
      if (downtime !== undefined) this.#tell(part, { stoodStillMs: Number(downtime) });
    } catch (error) {
      log.debug({ error: describeError(error) }, "migration: its progress is unknown");
    }
  }

  /** A target learns it on its own, or finds out: it asks from the beginning. */
  async #followTarget(
    part: Part,
    received: Promise<ReceivedOutcome>,
    settle: (signal: AbortSignal) => Promise<SettledTarget | undefined>,
  ): Promise<void> {
    const known = new AbortController();
    const heard = received.then((ended) => (ended.target === "failed" ? undefined : ended));
    const signal = AbortSignal.any([part.over.signal, known.signal]);
    const found = this.#patient(() => settle(signal));
    const ended = (await Promise.race([heard, found])) ?? (await found);
    // Otherwise it would ask its node agent forever for a claim that was made long ago.
    known.abort();
    const why = ended && "why" in ended ? { why: ended.why } : {};
    if (ended) this.#tell(part, { outcome: ended.target, settled: ended.target, ...why });
  }

  /** Work that ends only because the launcher ends reports nothing. */
  async #patient<T>(settle: () => Promise<T | undefined>): Promise<T | undefined> {
    const { log = silentLog } = this.#options;
    try {
      return await settle();
    } catch (error) {
      log.debug({ error: describeError(error) }, "migration: it is no longer followed");
      return undefined;
    }
  }

  async followMigration(
    { migrationUID, after = 0 }: { readonly migrationUID: string; readonly after?: number },
    { signal }: CallOptions = {},
  ): Promise<MigrationReport> {
    const part = this.#need(migrationUID);
    const news = (): MigrationReport | undefined =>
      part.report.revision > after ? part.report : undefined;
    const found = await until(news, { clock: this.#clock, interval: 20, signal });
    return found ?? part.report;
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
      if (this.#need(migrationUID).isResumed) await this.#abortResumed(migrationUID);
      else this.#source(migrationUID).abort(reason);
      return;
    }
    if (this.#unknown) throw this.#unknown;
    await this.#abortUnbegun(migrationUID);
  }

  /** Nothing that an earlier process began is finished, so an abort is only written down. */
  async #abortResumed(migrationUID: string): Promise<void> {
    if (this.#part?.report.role !== "source") throw notThat(migrationUID, "source");
    const { DecisionFile } = await import("@virtkit/migration/handover");
    const decision = new DecisionFile(this.#options.directory, migrationUID);
    decision.settle({ outcome: "aborted", migrationUID, sourceRuns: false });
  }

  /** Writes to disk the abort of a migration that this launcher was never asked to begin. */
  async #abortUnbegun(migrationUID: string): Promise<void> {
    const { connect: connected, directory } = this.#options;
    const [{ DecisionFile }, { stateReason }] = await Promise.all([
      import("@virtkit/migration/handover"),
      import("@virtkit/domain-manager/libvirt"),
    ]);
    const libvirt = await connected();
    try {
      const { dom } = await libvirt.call("domainLookupByName", { name: this.#options.domain });
      const { state, reason } = await libvirt.call("domainGetState", { dom });
      // If nothing of it is on this disk, a paused guest was paused by its user.
      const sourceRuns =
        state === "running" || (state === "paused" && stateReason(state, reason) === "user");
      const decision = new DecisionFile(directory, migrationUID);
      decision.settle({ outcome: "aborted", migrationUID, sourceRuns });
    } finally {
      await libvirt.close();
    }
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
    const { serveSource } = await import("@virtkit/migration/handover");
    const answer = await serveSource(this.#options.directory)("decision", { migration });
    const { outcome } = answer as Partial<Decision>;
    return outcome ? { migrationUID: migration.migrationUID, outcome } : {};
  }

  async noteGrant({
    migrationUID,
    grant,
    proofs,
  }: Parameters<MigrationVerbs["noteGrant"]>[0]): Promise<void> {
    const part = this.#need(migrationUID);
    if (part.report.asksGrant) this.#tell(part, { asksGrant: false });
    part.grant.noteGrant(decodeGrant(grant, this.#options.vmiUID), proofs);
  }

  async noteClaim({
    migrationUID,
    mayRun,
  }: {
    readonly migrationUID: string;
    readonly mayRun: MayRun;
  }): Promise<void> {
    this.#need(migrationUID).grant.noteClaim(mayRun);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#part) await this.#close(this.#part);
  }

  /** One at a time: a guest that moves has one handover, and a launcher that receives has no guest yet. */
  #begin(
    migration: MigrationIdentity,
    role: Part["report"]["role"],
    holder: Part["grant"]["holder"],
  ): Part {
    if (migration.vmiUID !== this.#options.vmiUID) {
      const text = `migration.vmiUID: found ${JSON.stringify(migration.vmiUID)}, but this launcher is for ${this.#options.vmiUID}`;
      throw new LauncherError("LAUNCHER_ARGUMENT", text, { path: "migration.vmiUID" });
    }
    if (this.#unknown) throw this.#unknown;
    const before = this.#part;
    if (before && before.report.settled === undefined) {
      const text = `the migration ${before.report.migrationUID} is in progress; wait until it has ended`;
      throw new LauncherError("LAUNCHER_BUSY", text, { path: "migration.migrationUID" });
    }
    if (before) void this.#close(before);
    const part = this.#newPart(migration, role, holder);
    this.#part = part;
    return part;
  }

  #newPart(
    migration: MigrationIdentity,
    role: Part["report"]["role"],
    holder: Part["grant"]["holder"],
  ): Part {
    const { migrationUID } = migration;
    const grant = new AgentGrant(holder, (wish) => this.#tell(part, wish), this.#clock);
    const report = { migrationUID, role, revision: 1, step: "asked" } as const;
    const part: Part = { report, grant, migration, closing: [], over: new AbortController() };
    return part;
  }

  /** A node agent's request for another VMI is refused before anything begins. */
  #assertVmi(vmi: WantedGuest["vmi"], path: string): void {
    const uid = vmi.metadata?.uid;
    if (uid === this.#options.vmiUID) return;
    const found = JSON.stringify(uid)?.slice(0, 80) ?? "nothing";
    const text = `${path}: found ${found}, but this launcher is for ${this.#options.vmiUID}`;
    throw new LauncherError("LAUNCHER_ARGUMENT", text, { path });
  }

  /** A failed start leaves nothing open. */
  async #guarded(part: Part, begin: () => Promise<void>): Promise<void> {
    try {
      await begin();
    } catch (error) {
      this.#part = undefined;
      await this.#close(part);
      throw error;
    }
  }

  async #close(part: Part): Promise<void> {
    const { log = silentLog } = this.#options;
    part.over.abort();
    for (const close of part.closing.splice(0).reverse()) {
      try {
        await close();
      } catch (error) {
        log.debug({ error: describeError(error) }, "migration: a connection was lost before");
      }
    }
  }

  #tell(part: Part, change: Partial<MigrationReport>): void {
    const { now = wallTime, log = silentLog } = this.#options;
    const { step } = change;
    const times = step && { times: { [step]: now().getTime(), ...part.report.times } };
    const report = { ...part.report, ...change, ...times, revision: part.report.revision + 1 };
    try {
      if (change.settled !== undefined) this.#files.settle(report);
    } catch (error) {
      // A restarted launcher settles it once more, which changes nothing.
      log.warn({ error: describeError(error) }, "migration: its end is not on disk");
    }
    part.report = report;
  }

  #need(migrationUID: string): Part {
    if (this.#part?.report.migrationUID === migrationUID) return this.#part;
    if (this.#unknown) throw this.#unknown;
    const text = `migrationUID: this launcher does not take part in the migration ${JSON.stringify(migrationUID)}`;
    throw new LauncherError("LAUNCHER_ARGUMENT", text, { path: "migrationUID" });
  }

  #source(migrationUID: string): SourceMigration {
    const { source } = this.#need(migrationUID);
    if (!source) throw notThat(migrationUID, "source");
    return source;
  }
}

function notThat(migrationUID: string, role: string): LauncherError {
  const text = `this launcher is not the ${role} of the migration ${migrationUID}, or not yet`;
  return new LauncherError("LAUNCHER_ARGUMENT", text, { path: "migrationUID" });
}
