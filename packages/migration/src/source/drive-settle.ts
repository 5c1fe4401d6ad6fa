import { type Clock, realClock, until } from "@virtkit/api/clock";
import { type DecisionRecord, mayDestroy, mayResume } from "@virtkit/api/grant";
import { describeError, silentLog } from "@virtkit/api/observe";
import {
  type CopyState,
  copyState,
  describeCopy,
  destroyCopy,
  isAlive,
  isInPostCopy,
  runs,
} from "../copy/copy-state.ts";
import { MigrationError } from "../migration-error.ts";
import { isClaimedByAnother } from "./drive-grant.ts";
import { defaultPatience, type SourceParts } from "./drive-parts.ts";
import { endJob } from "./end-job.ts";

/** What became of a source. `waits`: it is paused and safe, and somebody has to do something first. */
export type SettledSource =
  | { readonly source: "runs" | "paused" | "ended"; readonly record: DecisionRecord }
  | {
      readonly source: "waits";
      readonly record: DecisionRecord;
      /** `release`: nobody has it yet. `claim`: the target is whole. `recovery`: post-copy is broken. `coldStart`: memory is lost. */
      readonly for: "release" | "claim" | "recovery" | "coldStart";
      readonly why: string;
    };

/** What {@link settleSource} works with, beside the parts. */
export interface SettleOptions {
  /** The target has said that it has the release on its disk. */
  readonly acknowledged?: boolean;
  /** Whether *perform* may still be under way. Default true: an earlier life may have called it. */
  readonly isPerforming?: boolean | undefined;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
}

/**
 * Brings a source where its decision file says that it belongs: after a failure, after a restart of the
 * launcher or of libvirtd, or because somebody asks again. It may be called at any time and as often as
 * one likes. What an earlier life began is never finished: undecided becomes aborted.
 *
 * Rejects where libvirt does not answer, with nothing lost: call it again.
 */
export async function settleSource(
  parts: SourceParts,
  options: SettleOptions = {},
): Promise<SettledSource> {
  const record = await decided(parts);
  switch (record.outcome) {
    case "released":
      return await endSource(parts, record, options);
    case "committed":
      return await settleCommitted(parts, record, options);
    default:
      return await goBack(parts, record, options);
  }
}

/**
 * Settles a source again and again, until it runs, is paused by its user, or has ended. What fails is told to
 * the log and tried again, and so is what waits: for a release to be heard, or for a claim or a recovery.
 */
export async function followSource(
  parts: SourceParts,
  { interval = 1_000, ...options }: SettleOptions & { readonly interval?: number } = {},
): Promise<SettledSource | undefined> {
  const { clock = realClock, signal } = options;
  const { log = silentLog } = parts;
  const look = async (): Promise<SettledSource | undefined> => {
    try {
      const settled = await settleSource(parts, options);
      if (settled.source !== "waits") return settled;
      log.info({ for: settled.for, why: settled.why }, "migration: the source waits");
    } catch (error) {
      log.warn({ error: describeError(error) }, "migration: the source is not settled yet");
    }
    return undefined;
  };
  return await until(look, { clock, interval, signal });
}

/** The decision that is on disk; where there is none, the source goes on. */
async function decided({ decision, domain, libvirt }: SourceParts): Promise<DecisionRecord> {
  const record = decision.read();
  if (record?.outcome) return record;
  const { migrationUID } = decision;
  // Without a record only a source that runs may be decided on: nothing of it was released.
  const sourceRuns = record ? false : runs(await copyState(libvirt, domain));
  return decision.settle({ outcome: "aborted", migrationUID, sourceRuns });
}

/** Aborted, or returned: the source goes on, and the target is told to end its copy. */
async function goBack(
  parts: SourceParts,
  record: DecisionRecord,
  { clock = realClock, signal, isPerforming }: SettleOptions,
): Promise<SettledSource> {
  const { libvirt, domain, log = silentLog } = parts;
  const telling = tellAborted(parts);
  await endJob(parts, { isPerforming, clock, signal });
  const settled = await until(() => resumed(parts, record), {
    clock,
    interval: 50,
    timeout: parts.patience ?? defaultPatience,
    signal,
  });
  await telling;
  try {
    const { migrationUID, outcome = "aborted" } = record;
    await parts.grant.makeKnown({ migrationUID, outcome }, { signal });
  } catch (error) {
    log.warn(
      { error: describeError(error) },
      "migration: the grant does not know of the abort yet",
    );
  }
  if (settled) return { source: settled, record };
  const copy = await copyState(libvirt, domain);
  const message = `the source was to go on, but it is ${describeCopy(copy)}`;
  throw new MigrationError("MIGRATION_PHASE_FAILED", message, { path: "source/confirm" });
}

/** Resumes a source that stands still because of this migration, and only that. */
async function resumed(
  { libvirt, domain, decision, grant, log = silentLog }: SourceParts,
  record: DecisionRecord,
): Promise<"runs" | "paused" | "ended" | undefined> {
  const copy = await copyState(libvirt, domain);
  if (runs(copy)) return "runs";
  if (!isAlive(copy)) return "ended";
  // By its user, before the migration or during it.
  const isUsers = copy.reason === "user" && !decision.wasSuspended;
  if (decision.start()?.paused || (copy.state === "paused" && isUsers)) return "paused";
  if (mayResume({ as: "source", holder: grant.holder, record, grant: undefined })) return undefined;
  const isOurs = copy.reason === "migration" || (copy.reason === "user" && decision.wasSuspended);
  if (copy.state !== "paused" || !isOurs) return undefined;
  try {
    await libvirt.call("domainResume", { dom: copy.dom }, { timeout: 40_000 });
  } catch (error) {
    // A job that just ends keeps the domain for a moment; the next look decides.
    log.debug({ error: describeError(error) }, "migration: the source does not resume yet");
  }
  return undefined;
}

/** The target learns of an abort sooner or later: by this, by asking, or from the grant. */
async function tellAborted(parts: SourceParts): Promise<void> {
  const { target, migration, log = silentLog, patience = defaultPatience } = parts;
  try {
    await target.abort(migration, { timeout: patience });
  } catch (error) {
    log.info({ error: describeError(error) }, "migration: the target was not told of the abort");
  }
}

/** Released: the source ends, but only once somebody else has the release. */
async function endSource(
  parts: SourceParts,
  record: DecisionRecord,
  options: SettleOptions,
): Promise<SettledSource> {
  const { libvirt, domain, grant } = parts;
  const { acknowledged, known } = await makeReleaseKnown(parts, options);
  const refused = mayDestroy({
    holder: grant.holder,
    grant: known,
    live: known !== undefined,
    released: false,
    proofs: [],
    record,
    acknowledged,
    by: "agent",
  });
  if (refused) return { source: "waits", record, for: "release", why: refused.reason };
  const copy = await copyState(libvirt, domain);
  if (isAlive(copy)) await destroyCopy(libvirt, copy.dom);
  return { source: "ended", record };
}

/** Tells the target and swaps the grant; either is enough. */
async function makeReleaseKnown(
  { target, migration, grant, log = silentLog, patience = defaultPatience }: SourceParts,
  { acknowledged = false, signal }: SettleOptions,
): Promise<{ acknowledged: boolean; known: Awaited<ReturnType<typeof grant.read>> | undefined }> {
  const { migrationUID } = migration;
  const [told, swapped] = await Promise.allSettled([
    acknowledged ? undefined : target.release(migration, { timeout: patience, signal }),
    grant.makeKnown({ migrationUID, outcome: "released" }, { signal }),
  ]);
  for (const each of [told, swapped]) {
    if (each.status === "fulfilled") continue;
    log.warn({ error: describeError(each.reason) }, "migration: one way of the release failed");
  }
  return {
    acknowledged: acknowledged || told.status === "fulfilled",
    known: swapped.status === "fulfilled" ? swapped.value : undefined,
  };
}

/** Committed to post-copy: back if QEMU never switched, else on, never back. */
async function settleCommitted(
  parts: SourceParts,
  record: DecisionRecord,
  options: SettleOptions,
): Promise<SettledSource> {
  const { libvirt, domain, decision, grant } = parts;
  const copy = await copyState(libvirt, domain);
  if (isAlive(copy) && !isInPostCopy(copy)) {
    const { migrationUID } = decision;
    const outcome = "returned" as const;
    return await goBack(
      parts,
      decision.settle({ outcome, migrationUID, neverSwitched: true }),
      options,
    );
  }
  if (isInPostCopy(copy)) await startTarget(parts);
  const known = await grant.read({ signal: options.signal });
  if (isClaimedByAnother(known, grant.holder)) {
    const isLeft = { holder: grant.holder, grant: known, live: true, released: false } as const;
    const refused = mayDestroy({ ...isLeft, proofs: [], by: "agent" });
    if (!refused && isAlive(copy)) await destroyCopy(libvirt, copy.dom);
    if (!refused) return { source: "ended", record };
  }
  const why = isAlive(copy)
    ? `the source is ${describeCopy(copy)}; its memory is on both hosts until the target is whole`
    : "the source has ended, and the target has not claimed the guest";
  return { source: "waits", record, for: await missing(parts, copy), why };
}

/**
 * After the switch there is no way but on: a target that an earlier life did not come to finish is finished
 * now, which starts it. One that runs is left alone.
 */
async function startTarget(parts: SourceParts): Promise<void> {
  const { target, migration, decision, log = silentLog, patience = defaultPatience } = parts;
  const flags = ["live", "persistDestination", "postcopy"];
  if (decision.start()?.paused) flags.push("paused");
  try {
    if ((await target.state(migration, { timeout: patience })) !== "paused") return;
    // It answers when it is whole; whether it does in this time or later, the next look finds out.
    const request = { migration, cookie: new Uint8Array(), flags };
    await target.finish(request, { timeout: patience });
  } catch (error) {
    log.warn(
      { error: describeError(error) },
      "migration: the target has not said that it is whole",
    );
  }
}

/** What a post-copy that is not over waits for. */
async function missing(
  { target, migration, patience = defaultPatience, log = silentLog }: SourceParts,
  copy: CopyState,
): Promise<"claim" | "recovery" | "coldStart"> {
  try {
    const state = await target.state(migration, { timeout: patience });
    if (state === "whole") return "claim";
    return state === "absent" || !isAlive(copy) ? "coldStart" : "recovery";
  } catch (error) {
    log.info({ error: describeError(error) }, "migration: the target does not say what it has");
    return "recovery";
  }
}
