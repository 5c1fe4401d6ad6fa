import { type Clock, realClock, until } from "@virtkit/api/clock";
import { type DecisionRecord, mayDestroy, mayResume } from "@virtkit/api/grant";
import { describeError, silentLog } from "@virtkit/api/observe";
import {
  type CopyState,
  copyState,
  describeCopy,
  destroyCopy,
  hasLeft,
  isAlive,
  isInPostCopy,
  runs,
} from "../copy/copy-state.ts";
import { brokenStream, streamState } from "../copy/stream-state.ts";
import { MigrationError } from "../migration-error.ts";
import { isClaimedByAnother } from "./drive-grant.ts";
import { defaultPatience, type SourceParts } from "./drive-parts.ts";
import { endJob } from "./end-job.ts";
import { hasSwitched } from "./has-switched.ts";

/** What became of a source. `waits`: it is paused and safe, and something else must happen first. */
export type SettledSource =
  | { readonly source: "runs" | "paused" | "ended"; readonly record: DecisionRecord }
  | {
      readonly source: "waits";
      readonly record: DecisionRecord;
      /**
       * `release`: nobody has it yet. `claim`: the target is complete. `recovery`: post-copy is broken.
       * `coldStart`: memory is lost.
       */
      readonly for: "release" | "claim" | "recovery" | "coldStart";
      readonly why: string;
    };

/** What {@link settleSource} works with, in addition to the parts. */
export interface SettleOptions {
  /** The target has confirmed that it has the release on its disk. */
  readonly acknowledged?: boolean;
  /** Whether *perform* may still be in progress. Default true: an earlier process may have called it. */
  readonly isPerforming?: boolean | undefined;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
}

/**
 * Brings a source to the state that its decision file demands: after a failure, after a restart of the launcher or
 * of libvirtd, or on request. It may be called at any time and any number of times. What an earlier process began
 * is never finished: undecided becomes aborted. Rejects if libvirt does not answer, and nothing is lost: call it
 * again.
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

/** The decision on disk; if there is none, the source continues. */
async function decided({ decision, domain, libvirt }: SourceParts): Promise<DecisionRecord> {
  const record = decision.read();
  if (record?.outcome) return record;
  const { migrationUID } = decision;
  // Without a record, only a running source may be decided on: nothing of it was released.
  const sourceRuns = record ? false : runs(await copyState(libvirt, domain));
  return decision.settle({ outcome: "aborted", migrationUID, sourceRuns });
}

/** Aborted or returned: the source continues, and the target is asked to end its copy. */
async function goBack(
  parts: SourceParts,
  record: DecisionRecord,
  options: SettleOptions,
): Promise<SettledSource> {
  const telling = tellAborted(parts);
  await endJob(parts, options);
  return await goOn(parts, record, telling, options);
}

/** The source continues, because nothing is left of its migration. */
async function goOn(
  parts: SourceParts,
  record: DecisionRecord,
  telling: Promise<void>,
  { clock = realClock, signal }: SettleOptions,
): Promise<SettledSource> {
  const { libvirt, domain, log = silentLog } = parts;
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
    log.warn({ error: describeError(error) }, "migration: the grant does not record the abort yet");
  }
  if (settled) return { source: settled, record };
  const copy = await copyState(libvirt, domain);
  const message = `the source should continue, but it is ${describeCopy(copy)}`;
  throw new MigrationError("MIGRATION_PHASE_FAILED", message, { path: "source/confirm" });
}

/** Resumes a source that is paused because of this migration, and for no other reason. */
async function resumed(
  { libvirt, domain, decision, grant, log = silentLog }: SourceParts,
  record: DecisionRecord,
): Promise<"runs" | "paused" | "ended" | undefined> {
  const copy = await copyState(libvirt, domain);
  if (runs(copy)) return "runs";
  if (!isAlive(copy)) return "ended";
  // By its user, before or during the migration.
  const isUsers = copy.reason === "user" && !decision.wasSuspended;
  if (decision.start()?.paused || (copy.state === "paused" && isUsers)) return "paused";
  if (mayResume({ as: "source", holder: grant.holder, record, grant: undefined })) return undefined;
  const isOurs = copy.reason === "migration" || (copy.reason === "user" && decision.wasSuspended);
  if (copy.state !== "paused" || !isOurs) return undefined;
  try {
    await libvirt.call("domainResume", { dom: copy.dom }, { timeout: 40_000 });
  } catch (error) {
    // A job that is just ending keeps the domain for a moment; the next check decides.
    log.debug({ error: describeError(error) }, "migration: the source does not resume yet");
  }
  return undefined;
}

/** The target learns about an abort eventually: from this message, by asking, or from the grant. */
async function tellAborted(parts: SourceParts): Promise<void> {
  const { target, migration, log = silentLog, patience = defaultPatience } = parts;
  try {
    await target.abort(migration, { timeout: patience });
  } catch (error) {
    log.info(
      { error: describeError(error) },
      "migration: the target was not informed of the abort",
    );
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
    log.warn(
      { error: describeError(each.reason) },
      "migration: one of the two ways to deliver the release failed",
    );
  }
  return {
    acknowledged: acknowledged || told.status === "fulfilled",
    known: swapped.status === "fulfilled" ? swapped.value : undefined,
  };
}

/** Committed to post-copy: back if QEMU never switched, otherwise forward, never back. */
async function settleCommitted(
  parts: SourceParts,
  record: DecisionRecord,
  options: SettleOptions,
): Promise<SettledSource> {
  const { libvirt, domain, decision, grant } = parts;
  const before = await copyState(libvirt, domain);
  const mayNotHaveSwitched = isAlive(before) && !isInPostCopy(before);
  // A switch that was requested can still be made as long as libvirt's job exists. So nobody is told before it has ended.
  if (mayNotHaveSwitched) await endJob(parts, options);
  const copy = mayNotHaveSwitched ? await copyState(libvirt, domain) : before;
  const neverSwitched = isAlive(copy) && !(await hasSwitched(parts, copy));
  if (neverSwitched) {
    const { migrationUID } = decision;
    const returned = decision.settle({ outcome: "returned", migrationUID, neverSwitched });
    return await goOn(parts, returned, tellAborted(parts), options);
  }
  // Memory also flows while nobody calls *finish*: a source can end before its target has begun to run.
  if (isInPostCopy(copy) || hasLeft(copy)) await startTarget(parts, options);
  const known = await grant.read({ signal: options.signal });
  if (isClaimedByAnother(known, grant.holder)) {
    const isLeft = { holder: grant.holder, grant: known, live: true, released: false } as const;
    const refused = mayDestroy({ ...isLeft, proofs: [], by: "agent" });
    if (!refused && isAlive(copy)) await destroyCopy(libvirt, copy.dom);
    if (!refused) return { source: "ended", record };
  }
  return { source: "waits", record, ...(await missing(parts, copy)) };
}

/** Looks at a target, of a patience each, until one that does not start to run is given up. */
const manyLooks = 4;
/** Milliseconds for a target to end a QEMU that hangs: libvirt gives it ten seconds to end by itself, and then kills it. */
const endsWithin = 40_000;

/**
 * After the switch there is only the way forward: a target that an earlier process did not finish is finished
 * now, which starts it. A running one is left alone. One that does not run although the stream is broken is
 * asked to end.
 */
async function startTarget(
  parts: SourceParts,
  { clock = realClock, signal }: SettleOptions,
): Promise<void> {
  const { target, migration, decision, log = silentLog, patience = defaultPatience } = parts;
  const isPaused = decision.start()?.paused === true;
  const flags = ["live", "persistDestination", "postcopy", ...(isPaused ? ["paused"] : [])];
  const isStill = async (): Promise<boolean> =>
    (await target.state(migration, { timeout: patience })) === "paused";
  try {
    if (!(await isStill())) return;
    // It answers when it is whole; whether in this time or later, the next check finds out.
    const request = { migration, cookie: new Uint8Array(), flags };
    await target.finish(request, { timeout: patience });
  } catch (error) {
    log.warn(
      { error: describeError(error) },
      "migration: the target has not reported that it is complete",
    );
  }
  // If its user has paused the guest, the state does not show whether its copy has reached the point where it
  // would run.
  if (isPaused || !(await isStreamBroken(parts))) return;
  try {
    const interval = Math.ceil(patience / 2);
    const timeout = manyLooks * patience;
    const other = async (): Promise<boolean> => !(await isStill());
    if (await until(other, { clock, interval, timeout, signal })) return;
    log.warn({}, "migration: the stream broke before the target ran: its copy is of no use");
    await target.abort(migration, { timeout: endsWithin, signal });
  } catch (error) {
    log.info({ error: describeError(error) }, "migration: the target has not ended its copy");
  }
}

/**
 * Whether the stream of post-copy is gone now, according to QEMU: it may have broken while *finish* was awaited. libvirt also
 * reports `postcopyFailed` if it has only lost the client that drove the migration while memory still flows.
 */
async function isStreamBroken(parts: SourceParts): Promise<boolean> {
  const { dom, reason } = await copyState(parts.libvirt, parts.domain);
  return reason === "postcopyFailed" && (await streamState(parts, dom)) === brokenStream;
}

/** What an unfinished post-copy waits for, and what somebody must do about it. */
async function missing(
  { target, migration, patience = defaultPatience, log = silentLog }: SourceParts,
  copy: CopyState,
): Promise<{ readonly for: "claim" | "recovery" | "coldStart"; readonly why: string }> {
  const source = isAlive(copy) ? `the source is ${describeCopy(copy)}` : "the source has ended";
  const cold = "end both launcher Pods: once both are proven to have ended, the VM starts cold";
  try {
    const state = await target.state(migration, { timeout: patience });
    if (state === "whole") {
      return {
        for: "claim",
        why: `${source}, the target is complete; its node agent must claim it`,
      };
    }
    if (state === "absent" || !(isAlive(copy) || hasLeft(copy))) {
      const why = `${source}, the target's copy is ${state}: nobody has the guest's whole memory; ${cold}`;
      return { for: "coldStart", why };
    }
    if (hasLeft(copy)) {
      const why = `${source}, the target has all of its memory, and is ${state}; it is started when its launcher answers`;
      return { for: "claim", why };
    }
    const why = `${source}, the target's copy is ${state}, and the memory is on both hosts: recover the post-copy; if that cannot be done, ${cold}`;
    return { for: "recovery", why };
  } catch (error) {
    log.info({ error: describeError(error) }, "migration: the target does not report its state");
    const why = `${source}, the target does not answer, and the memory may be on both hosts: make sure that the link between the nodes works and that the target's launcher runs`;
    return { for: "recovery", why };
  }
}
