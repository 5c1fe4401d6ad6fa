import { connect, type Socket } from "node:net";
import { type Clock, realClock, until, wallTime } from "@virtkit/api/clock";
import { type Decision, decodeGrant } from "@virtkit/api/grant";
import { describeError, type Observers, silentLog } from "@virtkit/api/observe";
import type { IncomingGuest, MayRun, WantedGuest } from "@virtkit/domain-manager";
import type { CallOptions, DomainRef, Libvirt } from "@virtkit/domain-manager/libvirt";
import type { ControlHandler, MigrationIdentity } from "@virtkit/migration/handover";
import type {
  MigrationOutcome,
  MigrationPlan,
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
  /** Aborted when nobody follows it any more. */
  readonly over: AbortController;
}

/**
 * The migrations of one launcher, at most one at a time, as a node agent drives them. The code for
 * migrations is loaded when the first one begins: most launchers never move their guest.
 */
export class LauncherMigrations implements MigrationVerbs, AsyncDisposable {
  readonly #options: LauncherMigrationsOptions;
  readonly #clock: Clock;
  #part: Part | undefined;

  constructor(options: LauncherMigrationsOptions) {
    this.#options = options;
    this.#clock = options.clock ?? realClock;
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
      this.#source(migrationUID).abort(reason);
      return;
    }
    await this.#abortUnbegun(migrationUID);
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
    const { migrationUID } = migration;
    if (migration.vmiUID !== this.#options.vmiUID) {
      const text = `migration.vmiUID: found ${JSON.stringify(migration.vmiUID)}, but this launcher is for ${this.#options.vmiUID}`;
      throw new LauncherError("LAUNCHER_ARGUMENT", text, { path: "migration.vmiUID" });
    }
    const before = this.#part;
    if (before && before.report.settled === undefined) {
      const text = `the migration ${before.report.migrationUID} is in progress; wait until it has ended`;
      throw new LauncherError("LAUNCHER_BUSY", text, { path: "migration.migrationUID" });
    }
    if (before) void this.#close(before);
    const grant = new AgentGrant(holder, (wish) => this.#tell(part, wish), this.#clock);
    const report = { migrationUID, role, revision: 1, step: "asked" } as const;
    const part: Part = { report, grant, migration, closing: [], over: new AbortController() };
    this.#part = part;
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
    const { now = wallTime } = this.#options;
    const { step } = change;
    const times = step && { times: { [step]: now().getTime(), ...part.report.times } };
    part.report = { ...part.report, ...change, ...times, revision: part.report.revision + 1 };
  }

  #need(migrationUID: string): Part {
    if (this.#part?.report.migrationUID === migrationUID) return this.#part;
    const text = `migrationUID: this launcher does not take part in the migration ${JSON.stringify(migrationUID)}`;
    throw new LauncherError("LAUNCHER_ARGUMENT", text, { path: "migrationUID" });
  }

  #source(migrationUID: string): SourceMigration {
    const { source } = this.#need(migrationUID);
    if (!source) throw notThat(migrationUID, "source");
    return source;
  }
}

/** The host devices that the guest releases before it moves. */
async function givenBack(
  { devicesToUnplug }: typeof import("@virtkit/migration/source"),
  { libvirt, dom }: { readonly libvirt: Libvirt; readonly dom: DomainRef },
): Promise<ReturnType<typeof devicesToUnplug>> {
  const { parseDomain } = await import("@virtkit/converter");
  const { xml } = await libvirt.call("domainGetXmlDesc", { dom });
  return devicesToUnplug(parseDomain(xml));
}

/** What the migration is called with, from the domain as it runs now. */
async function planFor(
  { vmi, options, tls, uris }: MigrateRequest,
  { planMigration, readVirtualSizes }: typeof import("@virtkit/migration/source"),
  guest: { readonly libvirt: Libvirt; readonly dom: DomainRef; readonly paused: boolean },
): Promise<MigrationPlan> {
  const { libvirt, dom, paused } = guest;
  const [{ xml: domainXml }, { version }, qemu] = await Promise.all([
    libvirt.call("domainGetXmlDesc", { dom, flags: ["migratable"] }),
    libvirt.call("connectGetLibVersion", {}),
    libvirt.call("connectGetVersion", {}),
  ]);
  const virtualSizes = await readVirtualSizes(vmi, domainXml, async (path) => {
    const { capacity } = await libvirt.call("domainGetBlockInfo", { dom, path });
    return Number(capacity);
  });
  return planMigration({
    ...{ vmi, options, domainXml, paused, tls, libvirtVersion: Number(version), virtualSizes },
    qemuVersion: Number(qemu.version),
    ...(uris && { uris }),
  });
}

function notThat(migrationUID: string, role: string): LauncherError {
  const text = `this launcher is not the ${role} of the migration ${migrationUID}, or not yet`;
  return new LauncherError("LAUNCHER_ARGUMENT", text, { path: "migrationUID" });
}

async function dial(path: string): Promise<Socket> {
  return await new Promise((resolve, reject) => {
    const socket = connect({ path });
    socket.once("connect", () => resolve(socket)).once("error", reject);
  });
}

/** Answers the other side's launcher until the part is closed. */
async function listen(
  part: Part,
  path: string,
  handler: ControlHandler,
  { ControlServer }: typeof import("@virtkit/migration/handover"),
): Promise<void> {
  const server = await ControlServer.listen(path, handler);
  part.closing.push(() => server.close());
}
