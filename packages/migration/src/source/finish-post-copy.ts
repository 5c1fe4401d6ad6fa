import { type Clock, realClock, sleep, until } from "@virtkit/api/clock";
import { describeError, silentLog } from "@virtkit/api/observe";
import { copyState } from "../copy/copy-state.ts";
import type { TargetState } from "../handover/index.ts";
import { isClaimedByAnother } from "./drive-grant.ts";
import { defaultPatience, type SourceParts } from "./drive-parts.ts";
import { inPhase, phaseError } from "./drive-phase.ts";

/** What {@link finishPostCopy} works with, in addition to the parts. */
export interface FinishPostCopyOptions {
  readonly cookie: Uint8Array;
  readonly flags: readonly string[];
  readonly clock?: Clock | undefined;
}

/**
 * Starts the target after the switch, by *finish*, and waits until it is complete. After a lost reply nobody
 * waits in vain: the grant, or the target when asked, says the same. Resolves with the cookie for *confirm*,
 * which is empty if the answer was lost.
 *
 * @throws MigrationError if the stream broke, libvirt is gone, or *finish* never reached the target.
 */
export async function finishPostCopy(
  parts: SourceParts,
  { cookie, flags, clock = realClock }: FinishPostCopyOptions,
): Promise<Uint8Array> {
  const { target, migration, patience = defaultPatience } = parts;
  const over = new AbortController();
  const request = { migration, cookie, flags };
  const finishing = inPhase("target/finish", () =>
    target.finish(request, { timeout: Number.POSITIVE_INFINITY, signal: over.signal }),
  );
  try {
    const answer = await Promise.race([
      finishing,
      brokenStream(parts, clock, over.signal),
      // A target that copies is busy, and asking it often would not help.
      unanswered(parts, { clock, interval: patience, signal: over.signal }),
    ]);
    return answer.cookie;
  } finally {
    over.abort();
    // The loser of the race fails silently: the winner has reported everything.
    finishing.catch(() => {});
  }
}

/**
 * Rejects when the source reports that its stream broke. A target whose devices wait for a page that cannot arrive
 * answers nothing at all.
 */
async function brokenStream(
  { libvirt, domain, patience = defaultPatience }: SourceParts,
  clock: Clock,
  signal: AbortSignal,
): Promise<never> {
  const isBroken = async (): Promise<boolean> =>
    (await copyState(libvirt, domain)).reason === "postcopyFailed";
  await until(isBroken, { clock, interval: Math.min(500, patience), signal });
  throw phaseError("target/finish", new Error("the stream of post-copy broke"));
}

/** Checks whether the target is complete although it has not answered, or was never started. */
async function unanswered(
  parts: SourceParts,
  options: { readonly clock: Clock; readonly interval: number; readonly signal: AbortSignal },
): Promise<{ readonly cookie: Uint8Array }> {
  let stillPaused = 0;
  const look = async (): Promise<true | undefined> => {
    const state = await targetNow(parts);
    if (state === "whole") return true;
    stillPaused = state === "paused" ? stillPaused + 1 : 0;
    // vCPUs start within a second. A target that still waits after this many checks was not informed.
    if (stillPaused < 4) return undefined;
    throw phaseError("target/finish", new Error("it did not reach the target"));
  };
  const { clock, interval, signal } = options;
  // The first answer gets its time before anybody asks.
  await sleep(clock, interval, signal);
  await until(look, options);
  return { cookie: new Uint8Array() };
}

/** What the grant and the target say; undefined if neither answers. */
async function targetNow({
  grant,
  target,
  migration,
  patience = defaultPatience,
  log = silentLog,
}: SourceParts): Promise<TargetState | undefined> {
  const ways = [
    grant
      .read()
      .then((known): TargetState | undefined =>
        isClaimedByAnother(known, grant.holder) ? "whole" : undefined,
      ),
    target.state(migration, { timeout: patience }),
  ];
  const found = await Promise.allSettled(ways);
  for (const each of found) {
    if (each.status === "rejected") {
      log.debug({ error: describeError(each.reason) }, "migration: no reply from the target");
    }
  }
  const said = found.map((each) => (each.status === "fulfilled" ? each.value : undefined));
  return said.includes("whole") ? "whole" : said[1];
}
