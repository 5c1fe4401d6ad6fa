import assert from "node:assert/strict";
import {
  type Claim,
  type Claimed,
  decide,
  encodeGrant,
  type Grant,
  type Holder,
} from "@virtkit/api/grant";
import type { MayRun } from "@virtkit/domain-manager";
import type { MigrateRequest, MigrationReport, MigrationVerbs } from "@virtkit/launcher/channel";
import type { MigrationIdentity } from "@virtkit/migration/handover";

/** What a migration may do. */
export type MigrationCheckOptions = MigrateRequest["options"];

/** One of the two launchers of a check. */
export interface MigrationCheckSide {
  readonly verbs: MigrationVerbs;
  readonly holder: Holder;
  /** What its copy of the guest is. */
  readonly state: () => Promise<"running" | "paused" | "ended">;
}

/** What a migration check receives: a running guest at the source, and a target without one. */
export interface MigrationCheckContext {
  readonly source: MigrationCheckSide;
  readonly target: MigrationCheckSide;
  /** The grant as it is before the check: the source has claimed. */
  readonly grant: Claimed;
  /** Hears of the grant as it is after the check. */
  readonly noteGrant?: (grant: Grant) => void;
  /** UID of a migration that was not used before. */
  readonly migrationUID: string;
  /** Asks the target's launcher to receive, and the source's to migrate. */
  readonly begin: (migration: MigrationIdentity, options: MigrationCheckOptions) => Promise<void>;
  /** Makes the guest rewrite 32 MiB of its memory continuously, or stop doing so. */
  readonly dirty: (isOn: boolean) => Promise<void>;
  /** Pauses the guest as its user would, or lets it continue, wherever it is. */
  readonly pause: (isPaused: boolean) => Promise<void>;
  /** Breaks the connections that carry memory; new ones can be made. */
  readonly breakStream: () => Promise<void>;
  /** Breaks them and refuses new ones, or allows new ones again. */
  readonly blockStream: (isBlocked: boolean) => Promise<void>;
  /** Limits memory transfer to 4 MiB per second from now on, in post-copy too, or removes the limit. */
  readonly slowStream: (isSlow: boolean) => void;
  /** Waits until the guest does something at the target, with the memory that it needs for that. */
  readonly untilAlive: () => Promise<unknown>;
  /** The source's next message of that name takes effect at the target, and its answer never comes. */
  readonly loseReply: (message: "finish" | "release") => void;
  /** Polls until a condition holds; throws after a long time. */
  readonly until: (holds: () => boolean | Promise<boolean>) => Promise<unknown>;
}

/** One property that node agents rely on, and that every pair of launchers that move a guest must have. */
export interface MigrationCheck {
  readonly name: string;
  readonly check: (context: MigrationCheckContext) => Promise<void>;
}

/** Bytes per second at which a copy takes long enough to do something meanwhile. */
export const slowly: { readonly bandwidth: string } = { bandwidth: "4Mi" };

const defaults: MigrationCheckOptions = {
  ...{ bandwidth: "0", progressTimeout: 150, completionTimeoutPerGiB: 0, maxDowntimeMs: 300 },
  ...{ unsafe: true, allowAutoConverge: false, allowPostCopy: false },
  allowWorkloadDisruption: false,
};

/** How both sides ended, and all that they reported. */
export interface CheckedMove {
  readonly ends: readonly [source: MigrationReport, target: MigrationReport];
  readonly reports: readonly MigrationReport[];
}

/** A handover with node agents on both sides that do what they must. */
export class CheckedMigration {
  readonly migration: MigrationIdentity;
  readonly reports: MigrationReport[] = [];
  readonly #context: MigrationCheckContext;
  readonly #over = new AbortController();
  #grant: Grant;

  constructor(context: MigrationCheckContext) {
    this.#context = context;
    const { grant, target, migrationUID } = context;
    const asked = { target: target.holder, migrationUID, remembered: true, sourceRuns: true };
    const verdict = decide(grant, { kind: "handOver", ...asked });
    if ("refused" in verdict) throw new Error(verdict.reason);
    this.#grant = verdict.grant;
    const { vmiUID, epoch, seq } = verdict.grant;
    this.migration = { migrationUID, vmiUID, epoch, seq };
  }

  get grant(): Grant {
    return this.#grant;
  }

  /** Asks both launchers; nobody follows yet. */
  async begin(options: Partial<MigrationCheckOptions> = {}): Promise<void> {
    await this.#context.begin(this.migration, { ...defaults, ...options });
  }

  /** Follows both sides to their ends. */
  async follow(): Promise<CheckedMove> {
    const { source, target, noteGrant } = this.#context;
    const ends = await Promise.all([this.#followSide(source), this.#followSide(target)]);
    noteGrant?.(this.#grant);
    return { ends, reports: this.reports };
  }

  /** Nobody follows any more, and {@link follow} rejects: for a check that has failed before the end. */
  stopFollowing(): void {
    this.#over.abort();
  }

  /** Asserts who has the guest and the grant in the end, and that nobody else runs it. */
  async assertOn(
    side: "source" | "target",
    state: "running" | "paused" = "running",
  ): Promise<void> {
    const { source, target, grant } = this.#context;
    const states = [await source.state(), await target.state()];
    assert.deepEqual(states, side === "source" ? [state, "ended"] : ["ended", state]);
    const { holder } = side === "source" ? source : target;
    const epoch = grant.epoch + (side === "source" ? 0 : 1);
    const { state: held, epoch: found } = this.#grant;
    assert.deepEqual([held, found], ["Claimed", epoch]);
    assert.deepEqual((this.#grant as Claimed).holder, holder);
  }

  async #followSide({ verbs, holder }: MigrationCheckSide): Promise<MigrationReport> {
    const { migrationUID } = this.migration;
    const { signal } = this.#over;
    for (let after = 0; ; ) {
      const report = await verbs.followMigration({ migrationUID, after }, { signal });
      this.reports.push(report);
      after = report.revision;
      if (report.decision) this.#swap({ kind: "decided", decision: decisionIn(report) });
      if (report.claims) {
        const mayRun = this.#claim(holder, report.claims);
        await verbs.noteClaim({ migrationUID, mayRun });
      }
      if (report.settled) return report;
      if (report.asksGrant || report.decision) {
        await verbs.noteGrant({ migrationUID, grant: encodeGrant(this.#grant) });
      }
    }
  }

  #swap(request: Parameters<typeof decide>[1]): void {
    const verdict = decide(this.#grant, request);
    if ("grant" in verdict) this.#grant = verdict.grant;
  }

  #claim(holder: Holder, claims: NonNullable<MigrationReport["claims"]>): MayRun {
    const { migrationUID } = this.migration;
    const evidence: Claim["evidence"] =
      claims === "postCopyComplete" ? claims : { migrationUID, outcome: "released" };
    this.#swap({ kind: "claim", holder, evidence });
    const { vmiUID: vmiUid, epoch } = this.#grant;
    return { grant: { vmiUid, podUid: holder.podUID, epoch } } as unknown as MayRun;
  }
}

function decisionIn({ migrationUID, decision: outcome = "aborted" }: MigrationReport): {
  readonly migrationUID: string;
  readonly outcome: NonNullable<MigrationReport["decision"]>;
} {
  return { migrationUID, outcome };
}

/** Waits until memory is on its way. */
export async function untilCopying(
  { source: { verbs }, until }: MigrationCheckContext,
  migrationUID: string,
): Promise<void> {
  await until(async () => {
    const { progress } = await verbs.followMigration({ migrationUID });
    return (progress?.transferred ?? 0) > 0 && progress?.phase === "memory";
  });
}

/** Asserts with which code a call is refused. */
export async function assertRefused(call: Promise<unknown>, code: string): Promise<Error> {
  const error = await call.then(
    () => assert.fail(`it was not refused with ${code}`),
    (thrown: unknown) => thrown as Error,
  );
  assert.equal((error as Error & { code?: string }).code, code, String(error));
  return error;
}
