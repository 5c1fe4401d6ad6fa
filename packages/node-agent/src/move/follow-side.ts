import { type Clock, realClock, sleep } from "@virtkit/api/clock";
import {
  type Claim,
  type Decision,
  decide,
  encodeGrant,
  type Holder,
  type ProofOfEnd,
  type ReadGrant,
} from "@virtkit/api/grant";
import type { Random } from "@virtkit/api/random";
import { type GrantStore, isDomainManagerError, MayRun } from "@virtkit/domain-manager";
import type { LauncherClient, MigrationReport } from "@virtkit/launcher/client";
import { Pace } from "../pace.ts";

/** One side of a migration, as its node agent follows it. */
export interface FollowedSide {
  readonly client: Pick<LauncherClient, "followMigration" | "noteClaim" | "noteGrant">;
  readonly store: GrantStore;
  readonly migrationUID: string;
  /** The incarnation of this side. */
  readonly holder: Holder;
  /** What proves that the other side has ended, if a grant hands the guest over. Default: nothing. */
  readonly proofs?: ((grant: ReadGrant) => Promise<readonly ProofOfEnd[]>) | undefined;
  readonly onReport?: ((report: MigrationReport) => void) | undefined;
  /** How a claim waits for its turn, if others swap the grant at the same time, and the time between endless reports. */
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Reports of a launcher about one migration, each of which may lead to calls of the API server. Its figures change less often. */
const mostReports = { atOnce: 128, perSecond: 16 };

/**
 * Follows one side of a migration to its end, as a node agent does: decides for itself what it writes into
 * the run grant, claims if the launcher has what a claim needs, and informs the launcher of the result. May
 * begin at any time and by any process: what the launcher waits for is in its report.
 *
 * Rejects if the launcher no longer answers; the migration continues without its agent.
 */
export async function followSide(side: FollowedSide): Promise<MigrationReport> {
  const { client, migrationUID, signal, clock = realClock } = side;
  const calling = signal ? { signal } : {};
  const pace = new Pace(mostReports, clock);
  for (let after = 0; ; ) {
    const early = pace.take();
    if (early > 0) await sleep(clock, early, signal);
    signal?.throwIfAborted();
    const report = await nextReport(client, { migrationUID, after }, calling);
    if (!report || report.revision === after) continue;
    after = report.revision;
    side.onReport?.(report);
    await answer(side, report);
    if (report.settled !== undefined) return report;
  }
}

/** Undefined if there was no news before the call timed out: a target reports nothing while it fills. */
async function nextReport(
  client: FollowedSide["client"],
  request: { readonly migrationUID: string; readonly after: number },
  options: { readonly signal?: AbortSignal },
): Promise<MigrationReport | undefined> {
  try {
    return await client.followMigration(request, options);
  } catch (error) {
    if (isDomainManagerError(error) && error.code === "DOMAIN_TIMEOUT") return undefined;
    throw error;
  }
}

async function answer(side: FollowedSide, report: MigrationReport): Promise<void> {
  const { client, store, migrationUID, holder, clock, random } = side;
  if (report.decision) await makeKnown(store, { migrationUID, outcome: report.decision });
  if (report.claims && report.settled === undefined) {
    const evidence = evidenceOf(report.claims, migrationUID);
    const waiting = { ...(clock && { clock }), ...(random && { random }) };
    const mayRun = await MayRun.claim(store, { holder, evidence }, waiting);
    await client.noteClaim({ migrationUID, mayRun });
  }
  if (report.settled !== undefined || !(report.asksGrant || report.decision)) return;
  const { grant } = await store.read();
  // An unreadable grant has no form to report; without a report, nothing counts as known.
  if (grant.state === "Invalid") return;
  const proofs = (await side.proofs?.(grant)) ?? [];
  const evidence = proofs.length > 0 ? { proofs } : {};
  await client.noteGrant({ migrationUID, grant: encodeGrant(grant), ...evidence });
}

/** Writes a source's decision into the grant, if that changes something. Returns the resulting grant. */
export async function makeKnown(store: GrantStore, decision: Decision): Promise<ReadGrant> {
  for (;;) {
    const read = await store.read();
    const verdict = decide(read.grant, { kind: "decided", decision });
    if ("refused" in verdict || verdict.grant === read.grant) return read.grant;
    if (await store.swap(read, verdict.grant)) return verdict.grant;
  }
}

function evidenceOf(
  claims: NonNullable<MigrationReport["claims"]>,
  migrationUID: string,
): Claim["evidence"] {
  if (claims === "claimed") return undefined;
  return claims === "postCopyComplete" ? claims : { migrationUID, outcome: "released" };
}
