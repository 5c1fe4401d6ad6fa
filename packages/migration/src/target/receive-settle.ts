import { type Clock, realClock, until } from "@virtkit/api/clock";
import type { ProofOfEnd } from "@virtkit/api/grant";
import { describeError, silentLog } from "@virtkit/api/observe";
import type { MayRun } from "@virtkit/domain-manager";
import { describeCopy } from "../copy/copy-state.ts";
import { howComplete } from "./how-complete.ts";
import {
  claimTarget,
  destroyTarget,
  isHandedTo,
  mayHaveRun,
  resumeTarget,
  targetCopy,
  whyKept,
  whyLost,
} from "./receive-copy.ts";
import type { Heard } from "./receive-file.ts";
import type { TargetParts } from "./receive-parts.ts";
import { whyStartedKept } from "./why-started-kept.ts";

/** What became of a target. `waits`: its copy is paused or incomplete, and not enough is known yet. */
export type SettledTarget =
  | { readonly target: "runs"; readonly mayRun: MayRun }
  | { readonly target: "ended" }
  /**
   * It was released, but its copy is gone, and so is the guest's memory. After proof of both ends, the VM starts
   * cold.
   */
  | { readonly target: "lost"; readonly why: string }
  | { readonly target: "waits"; readonly why: string };

/** What {@link settleTarget} works with, in addition to the parts. */
export interface SettleTargetOptions {
  /** Evidence that the source has ended. */
  readonly proofs?: readonly ProofOfEnd[];
}

/** How often {@link followTarget} checks. */
export interface FollowOptions {
  readonly clock?: Clock;
  /** Milliseconds; 5 s by default. */
  readonly interval?: number;
  readonly signal?: AbortSignal;
}

/**
 * Brings a target to its proper state by what it has heard, by asking the source, and by the grant: after a
 * restart, or because it has heard nothing for a while. It may be called at any time and any number of times. A
 * copy that runs or has run is destroyed only if its post-copy has failed and its source, which has the rest of its
 * memory, is proven to have ended. A paused one is never resumed because its source is silent. Rejects if libvirt or the
 * grant's store does not answer, and nothing is lost: call it again.
 */
export async function settleTarget(
  parts: TargetParts,
  { proofs = [] }: SettleTargetOptions = {},
): Promise<SettledTarget> {
  const { file } = parts;
  const heard = file.heard() ?? (await find(parts, proofs));
  if (heard === "released") {
    const lost = await whyLost(parts);
    if (lost !== undefined) return { target: "lost", why: lost };
    await resumeTarget(parts);
    return { target: "runs", mayRun: await claimTarget(parts, "released") };
  }
  if (heard === "aborted") {
    await destroyTarget(parts);
    return { target: "ended" };
  }
  return heard;
}

/** Looks for a decision that nobody has delivered. */
async function find(
  parts: TargetParts,
  proofs: readonly ProofOfEnd[],
): Promise<Heard | Extract<SettledTarget, { target: "runs" | "waits" }>> {
  const { file } = parts;
  const told = await ask(parts);
  const grant = await parts.grant.read();
  const released = told === "released" || isHandedTo(parts, grant, "Released");
  if (released) {
    file.hear("released");
    return "released";
  }
  const copy = await targetCopy(parts);
  const evidence = [...proofs, ...(parts.grant.proofs?.() ?? [])];
  const kept = whyKept(parts, grant, evidence);
  const how = await howComplete(parts, { copy, grant, isSourceAwaited: kept !== undefined });
  if (how) return { target: "runs", mayRun: await claimTarget(parts, how) };
  const isBack = told === "aborted" || told === "returned";
  const why = mayHaveRun(parts, copy)
    ? whyStartedKept(copy, { isCommitted: isHandedTo(parts, grant, "Committed"), kept })
    : isBack
      ? undefined
      : kept;
  if (why === undefined) {
    file.hear("aborted");
    return "aborted";
  }
  const heardOf = told ?? "undecided";
  return {
    target: "waits",
    why: `the copy is ${describeCopy(copy)}, the source says ${heardOf}; ${why}`,
  };
}

/** Settles a target repeatedly until it has ended or runs. Failures are logged and retried. */
export async function followTarget(
  parts: TargetParts,
  {
    clock = realClock,
    interval = 5_000,
    signal,
    ...options
  }: SettleTargetOptions & FollowOptions = {},
): Promise<SettledTarget | undefined> {
  const { log = silentLog } = parts;
  const look = async (): Promise<SettledTarget | undefined> => {
    try {
      const settled = await settleTarget(parts, options);
      if (settled.target !== "waits") return settled;
      log.debug({ why: settled.why }, "migration: the target waits");
    } catch (error) {
      // Nobody waits for it any more.
      if (signal?.aborted) return undefined;
      log.warn({ error: describeError(error) }, "migration: the target is not settled yet");
    }
    return undefined;
  };
  return await until(look, { clock, interval, signal });
}

async function ask({
  source,
  migration,
  log = silentLog,
}: TargetParts): Promise<string | undefined> {
  try {
    return (await source.decision(migration))?.outcome;
  } catch (error) {
    // Silence is not a decision; the grant may know.
    log.info({ error: describeError(error) }, "migration: the source does not report its decision");
    return undefined;
  }
}
