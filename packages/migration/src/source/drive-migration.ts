import { type Clock, realClock, sleep, until } from "@virtkit/api/clock";
import { mayDestroy, maySwitch } from "@virtkit/api/grant";
import { describeError, silentLog } from "@virtkit/api/observe";
import { isLibvirtError } from "@virtkit/domain-manager/libvirt";
import {
  type Caller,
  type CopyState,
  copyState,
  describeCopy,
  isInPostCopy,
  runs,
} from "../copy/copy-state.ts";
import type { PrepareRequest } from "../handover/index.ts";
import { isMigrationError, MigrationError } from "../migration-error.ts";
import {
  type AtSeam,
  type DrivePlan,
  defaultPatience,
  type SourceParts,
  type SourceSeam,
} from "./drive-parts.ts";
import { inPhase, phaseError } from "./drive-phase.ts";
import { type SettledSource, settleSource } from "./drive-settle.ts";
import { finishPostCopy } from "./finish-post-copy.ts";

/** How a migration ended at its source. */
export type MigrationOutcome =
  /** The target may run, or runs. `settled` is absent if the source has not ended yet. */
  | {
      readonly outcome: "moved";
      readonly by: "preCopy" | "postCopy";
      readonly settled?: SettledSource | undefined;
      /**
       * Milliseconds by `now`, if given: when perform and finish were answered, and when the release was
       * acknowledged.
       */
      readonly times: Readonly<Record<string, number>>;
    }
  /** The source continues. `settled` is absent if it is not back yet because libvirt did not answer. */
  | {
      readonly outcome: "stayed";
      readonly error: MigrationError;
      readonly settled?: SettledSource | undefined;
    }
  /** Post-copy broke: neither side may be destroyed; see `recoverPostCopy`. */
  | {
      readonly outcome: "broken";
      readonly error: MigrationError;
      readonly settled?: SettledSource | undefined;
    };

/** What {@link driveMigration} takes in addition to the plan. */
export interface DriveParts extends SourceParts {
  /**
   * The connection for *begin*, *perform* (which answers when the guest has moved) and *confirm* only. libvirt ends
   * the migration of a lost connection once no phase is in progress.
   */
  readonly long: Caller;
  /** Whether the guest's user has paused it. */
  readonly paused: boolean;
  /** Watches the copy and may abort or switch; its signal ends with *perform*. */
  readonly supervise?: (migration: SourceMigration, signal: AbortSignal) => Promise<void>;
  readonly clock?: Clock;
  /** The current time, for `times` of {@link MigrationOutcome}. */
  readonly now?: () => number;
}

/** What both QEMUs must agree on. */
function streamsOf({
  params,
  flags,
}: DrivePlan): Pick<PrepareRequest, "connections" | "compression" | "disks"> {
  // KubeVirt always names the disks; libvirt copies them only with a flag.
  const isCopying = flags.includes("nonSharedIncremental") || flags.includes("nonSharedDisk");
  const { "parallel.connections": connections, compression, migrate_disks: disks } = params;
  return {
    ...(connections !== undefined && { connections: Number(connections) }),
    ...(compression !== undefined && { compression: String(compression) }),
    ...(isCopying && Array.isArray(disks) && { disks: disks.map(String) }),
  };
}

/**
 * Of a paused guest libvirt does not say whether it has switched, and the target would run what its user has
 * paused.
 */
function assertRuns(copy: CopyState): void {
  if (runs(copy)) return;
  const message = `the source is ${describeCopy(copy)} and dirties no memory, so post-copy would not help; the guest stays in pre-copy`;
  throw new MigrationError("MIGRATION_REFUSED", message, { path: "source/switch" });
}

/** Starts a migration by driving libvirt's five phases. Only its outcome says how it went. */
export function driveMigration(plan: DrivePlan, parts: DriveParts): SourceMigration {
  return new SourceMigration(plan, parts);
}

/** A migration in progress, at its source. */
export class SourceMigration {
  readonly outcome: Promise<MigrationOutcome>;
  readonly #plan: DrivePlan;
  readonly #parts: DriveParts;
  readonly #at: AtSeam<SourceSeam>;
  readonly #times: Record<string, number> = {};
  #abortError: MigrationError | undefined;
  /** Whether *perform* was called and libvirt has not answered yet, with or without an error. */
  #isPerforming = false;
  /** Whether *perform* has succeeded: what the guest becomes is decided by then, with or without a switch. */
  #hasPerformed = false;
  #hasAskedToSwitch = false;

  /** @internal */
  constructor(plan: DrivePlan, parts: DriveParts) {
    this.#plan = plan;
    this.#parts = parts;
    this.#at = parts.at ?? (() => {});
    const { migration, paused, decision } = parts;
    decision.begin({ ...migration, paused });
    this.outcome = this.#run();
  }

  /**
   * Decides that the source continues; the decision is on disk when this returns. The outcome shows when it
   * does.
   *
   * @throws MigrationError `MIGRATION_REFUSED` if it is too late: released, or committed to post-copy.
   */
  abort(reason: string): void {
    const { decision } = this.#parts;
    const { migrationUID } = decision;
    decision.settle({ outcome: "aborted", migrationUID, sourceRuns: false });
    this.#abortError ??= new MigrationError("MIGRATION_PHASE_FAILED", `aborted: ${reason}`, {
      path: "source/decision",
    });
    void this.#stopPerform();
  }

  /**
   * Commits to post-copy and switches. From the commit on, the source does not go back, unless QEMU never
   * switched. A guest that is paused does not switch: it dirties no memory, so pre-copy completes without it.
   *
   * @throws MigrationError if the rules or QEMU refuse it; the copy continues as before.
   */
  async switchToPostCopy(): Promise<void> {
    const { decision, grant, libvirt, domain } = this.#parts;
    const { migrationUID } = decision;
    await this.#at("commit.before");
    assertRuns(await inPhase("source/switch", () => copyState(libvirt, domain)));
    await this.#assertTargetReceives();
    const committed = decision.settle({ outcome: "committed", migrationUID });
    await this.#at("commit.after");
    await inPhase("source/switch", async () => {
      const known = await grant.makeKnown(committed);
      const assertCommitted = (): void => {
        const refused = maySwitch(decision.read(), known);
        if (!refused) return;
        throw new MigrationError("MIGRATION_REFUSED", refused.reason, { path: refused.refused });
      };
      assertCommitted();
      await this.#at("switch.before");
      const copy = await copyState(libvirt, domain);
      await this.#orGoBack(copy, async () => {
        assertRuns(copy);
        await this.#assertTargetReceives();
      });
      // Nothing comes between this and the call: while the target was asked, another switch may have gone back.
      assertCommitted();
      this.#hasAskedToSwitch = true;
      await libvirt.call("domainMigrateStartPostCopy", { dom: copy.dom });
      await this.#at("switch.after");
    });
  }

  /**
   * A committed source can no longer be given up; one that never asked QEMU to switch goes back. One that the migration has
   * stopped has sent everything, or soon will: how *perform* and *finish* end decides.
   */
  async #orGoBack(found: CopyState, check: () => Promise<void>): Promise<void> {
    try {
      await check();
    } catch (error) {
      const completes = this.#hasPerformed || (!runs(found) && found.reason === "migration");
      if (!this.#hasAskedToSwitch && !completes && isMigrationError(error)) {
        const { decision } = this.#parts;
        const { migrationUID } = decision;
        decision.settle({ outcome: "returned", migrationUID, neverSwitched: true });
        this.#abortError ??= error;
        void this.#stopPerform();
      }
      throw error;
    }
  }

  /** If the target is gone or unreachable, a switch would split the guest's memory for nothing. */
  async #assertTargetReceives(): Promise<void> {
    const { target, migration } = this.#parts;
    const options = { timeout: this.#patience };
    const state = await inPhase("source/switch", () => target.state(migration, options));
    if (state === "paused") return;
    const message = `the target's copy is ${state} and cannot continue with post-copy; the guest stays in pre-copy`;
    throw new MigrationError("MIGRATION_REFUSED", message, { path: "source/switch" });
  }

  /** Suspends the guest until it has moved, so that it dirties no more memory. It is resumed on either side. */
  async suspend(): Promise<void> {
    const { decision, libvirt, domain } = this.#parts;
    decision.noteSuspended();
    const { dom } = await copyState(libvirt, domain);
    await libvirt.call("domainSuspend", { dom });
  }

  async #run(): Promise<MigrationOutcome> {
    try {
      return await this.#phases();
    } catch (error) {
      return await this.#failed(
        isMigrationError(error) ? error : phaseError("source/begin", error),
      );
    }
  }

  async #phases(): Promise<MigrationOutcome> {
    const { flags, params, destinationXml = (xml) => xml } = this.#plan;
    const { long, target, migration, paused, decision } = this.#parts;
    const { dom } = await inPhase("source/begin", () => copyState(long, this.#parts.domain));
    await this.#at("begin.before");
    const begun = await inPhase("source/begin", () =>
      long.call("domainMigrateBegin", { dom, params, flags }, { timeout: this.#patience }),
    );
    await this.#at("begin.after");
    const xml = await inPhase("source/begin", async () => destinationXml(begun.xml));
    await this.#at("prepare.before");
    const { cookie } = await inPhase("target/prepare", () =>
      target.prepare(
        { migration, xml, cookie: begun.cookie, flags, paused, ...streamsOf(this.#plan) },
        // Starts a QEMU while the guest keeps running.
        { timeout: 6 * this.#patience },
      ),
    );
    await this.#at("prepare.after");
    const performed = await this.#perform(xml, cookie);
    if (this.#abortError) throw this.#abortError;
    if (flags.includes("postcopy") && (await this.#hasSwitched())) {
      return await this.#completePostCopy(performed);
    }
    await this.#at("finish.before");
    const finished = await this.#finish(performed);
    this.#time("finish");
    await this.#at("finish.after");
    await this.#at("decision.before");
    const { migrationUID } = decision;
    // Throws if an abort came first: then the target's copy never runs, even though it is complete.
    decision.settle({ outcome: "released", migrationUID, perform: "ok", finish: "ok" });
    await this.#at("decision.after");
    return await this.#release(finished);
  }

  async #perform(xml: string, cookie: Uint8Array): Promise<Uint8Array> {
    const { flags, params } = this.#plan;
    const { libvirt, long, domain, supervise } = this.#parts;
    await this.#at("perform.before");
    if (this.#abortError) throw this.#abortError;
    const { dom } = await inPhase("source/perform", () => copyState(libvirt, domain));
    const over = new AbortController();
    // The loser of a race fails silently: the winner has reported everything.
    const performing = inPhase("source/perform", async () => {
      const args = { dom, params: { ...params, destination_xml: xml }, cookie, flags };
      this.#isPerforming = true;
      try {
        const answer = await long.call("domainMigratePerform", args);
        this.#isPerforming = false;
        return answer;
      } catch (error) {
        // A lost connection says nothing about what libvirt does.
        if (isLibvirtError(error) && error.code === "LIBVIRT_REMOTE") this.#isPerforming = false;
        throw error;
      }
    });
    // An error of a supervisor must not hide how perform ends, so it ends the copy.
    const watching = supervise?.(this, over.signal).catch((error: unknown) => {
      if (!over.signal.aborted) this.#abortQuietly(describeError(error));
    });
    try {
      const answer = await Promise.race([performing, this.#givenUp(over.signal)]);
      // Nothing is left to watch: a supervisor that sees a guest standing still must not abort it now.
      over.abort();
      this.#hasPerformed = true;
      this.#time("perform");
      await this.#at("perform.after");
      return answer.cookie;
    } catch (error) {
      throw this.#abortError ?? error;
    } finally {
      over.abort();
      void watching;
    }
  }

  /** Rejects some time after an abort: a libvirt that does not answer must not block a stopped guest. */
  async #givenUp(signal: AbortSignal): Promise<never> {
    const { clock = realClock } = this.#parts;
    await until(() => this.#abortError !== undefined, { clock, interval: 250, signal });
    await sleep(clock, this.#patience, signal);
    throw this.#abortError ?? phaseError("source/perform", new Error("it was given up"));
  }

  /** Leaves the target complete and paused. */
  async #finish(cookie: Uint8Array): Promise<Uint8Array> {
    const { target, migration } = this.#parts;
    const request = { migration, cookie, flags: [...this.#plan.flags, "paused"] };
    const options = { timeout: this.#patience };
    return (await inPhase("target/finish", () => target.finish(request, options))).cookie;
  }

  async #hasSwitched(): Promise<boolean> {
    const { libvirt, domain } = this.#parts;
    return isInPostCopy(await inPhase("source/perform", () => copyState(libvirt, domain)));
  }

  /** Tells the target and swaps the grant; the first of the two lets the source end. */
  async #release(cookie: Uint8Array): Promise<MigrationOutcome> {
    const { target, migration, grant, decision, log = silentLog } = this.#parts;
    const { clock = realClock } = this.#parts;
    await this.#at("release.before");
    const telling = target.release(migration, { timeout: this.#patience }).then(() => {
      this.#time("released");
      return { acknowledged: true, known: undefined };
    });
    // After the message is sent: a store on this disk syncs, and the guest would wait for that.
    const swapping = sleep(clock, 0)
      .then(() => grant.makeKnown({ migrationUID: migration.migrationUID, outcome: "released" }))
      .then((known) => ({ acknowledged: false, known }));
    const ways = [telling, swapping];
    const moved = { outcome: "moved", by: "preCopy", times: this.#times } as const;
    try {
      const { acknowledged, known } = await Promise.any(ways);
      await this.#at("release.after");
      const refused = mayDestroy({
        ...{ holder: grant.holder, grant: known, live: known !== undefined, released: false },
        ...{ proofs: [], record: decision.read(), acknowledged, by: "agent" },
      });
      if (refused) throw new MigrationError("MIGRATION_REFUSED", refused.reason);
      await this.#confirm(cookie);
      const both = await Promise.allSettled(ways);
      const settled = await this.#settle({ acknowledged: both[0]?.status === "fulfilled" });
      return { ...moved, settled };
    } catch (error) {
      log.warn(
        { error: describeError(error) },
        "migration: released, but the source has not ended",
      );
      return { ...moved, settled: await this.#settle() };
    }
  }

  /** After the switch, *finish* starts the target and answers when it is complete. */
  async #completePostCopy(performed: Uint8Array): Promise<MigrationOutcome> {
    const { flags } = this.#plan;
    const { paused } = this.#parts;
    await this.#at("finish.before");
    const finishing = paused ? [...flags, "paused"] : flags;
    const { clock } = this.#parts;
    const options = { cookie: performed, flags: finishing, clock };
    const finished = await finishPostCopy(this.#parts, options);
    this.#time("finish");
    await this.#at("finish.after");
    await this.#confirm(finished);
    const settled = await this.#settle();
    return { outcome: "moved", by: "postCopy", times: this.#times, settled };
  }

  /** Ends the source's QEMU, which takes 200 ms: the target already runs. */
  async #confirm(cookie: Uint8Array): Promise<void> {
    const { flags } = this.#plan;
    const { long, domain, log = silentLog } = this.#parts;
    await this.#at("confirm.before");
    try {
      const { dom } = await copyState(long, domain);
      const args = { dom, params: {}, cookie, flags, cancelled: false };
      await long.call("domainMigrateConfirm", args, { timeout: this.#patience });
    } catch (error) {
      // Settling ends what is left of it.
      const isGone = isLibvirtError(error, "operationInvalid") || isLibvirtError(error, "noDomain");
      log[isGone ? "debug" : "warn"]({ error: describeError(error) }, "migration: confirm failed");
    }
    await this.#at("confirm.after");
  }

  async #failed(error: MigrationError): Promise<MigrationOutcome> {
    const { log = silentLog } = this.#parts;
    log.warn({ error: describeError(error) }, "migration: a phase failed");
    const settled = await this.#settle();
    const outcome = this.#parts.decision.read()?.outcome;
    if (outcome === "released") {
      return { outcome: "moved", by: "preCopy", times: this.#times, settled };
    }
    if (outcome === "committed") return { outcome: "broken", error, settled };
    return { outcome: "stayed", error, settled };
  }

  /** Undefined if it is not known yet: the caller repeats `settleSource` until it is. */
  async #settle(options: { acknowledged?: boolean } = {}): Promise<SettledSource | undefined> {
    try {
      return await settleSource(this.#parts, { isPerforming: this.#isPerforming, ...options });
    } catch (error) {
      const { log = silentLog } = this.#parts;
      log.warn({ error: describeError(error) }, "migration: the source is not settled yet");
      return undefined;
    }
  }

  #abortQuietly(reason: string): void {
    try {
      this.abort(reason);
    } catch (error) {
      const { log = silentLog } = this.#parts;
      log.info({ error: describeError(error) }, "migration: too late for an abort");
    }
  }

  async #stopPerform(): Promise<void> {
    const { libvirt, domain, log = silentLog } = this.#parts;
    try {
      const { dom } = await copyState(libvirt, domain);
      await libvirt.call("domainAbortJob", { dom });
    } catch (error) {
      // Nothing was running that could be stopped; the decision stands all the same.
      log.debug({ error: describeError(error) }, "migration: no job was stopped");
    }
  }

  get #patience(): number {
    return this.#parts.patience ?? defaultPatience;
  }

  #time(what: string): void {
    const { now } = this.#parts;
    if (now) this.#times[what] = now();
  }
}
