import { realClock, until } from "@virtkit/api/clock";
import { describeError, silentLog } from "@virtkit/api/observe";
import type { SourceParts } from "./drive-parts.ts";
import { type SettledSource, type SettleOptions, settleSource } from "./drive-settle.ts";

/** A source that is paused and safe, and what must happen first. */
export type WaitingSource = Extract<SettledSource, { readonly source: "waits" }>;

/** What {@link followSource} works with, in addition to the parts. */
export interface FollowSourceOptions extends SettleOptions {
  /** Milliseconds between two checks. Default 1 s. */
  readonly interval?: number;
  /**
   * Resumes a post-copy migration whose stream broke: `recoverPostCopy`. Makes one attempt at a time; a failed one is
   * repeated after 1 s, and the delay then doubles up to 30 s. By default, a broken stream is not recovered.
   */
  readonly recover?: () => Promise<unknown>;
  /** Hears what the source waits for, and why the last attempt to recover it failed. */
  readonly onWait?: (waiting: WaitingSource) => void;
}

/** Milliseconds from a failed attempt to recover to the next one: the first time, and at most. */
const [firstPause, longestPause] = [1_000, 30_000];

/**
 * Settles a source repeatedly, until it runs, is paused by its user, or has ended. Failures are logged and
 * retried, and so is waiting: for a release to arrive, for a claim or for a recovery.
 */
export async function followSource(
  parts: SourceParts,
  { interval = 1_000, recover, onWait, ...options }: FollowSourceOptions = {},
): Promise<SettledSource | undefined> {
  const { clock = realClock, signal } = options;
  const { log = silentLog } = parts;
  let pause = firstPause;
  let next = clock.now();
  let failure: string | undefined;
  const tell = (waiting: WaitingSource): void => {
    const after = failure === undefined ? "" : `; the last attempt failed: ${failure}`;
    onWait?.({ ...waiting, why: `${waiting.why}${after}` });
  };
  const tryToRecover = async (waiting: WaitingSource): Promise<void> => {
    if (waiting.for !== "recovery") failure = undefined;
    tell(waiting);
    if (!recover || waiting.for !== "recovery" || clock.now() < next) return;
    try {
      await recover();
      log.info({}, "migration: post-copy was recovered");
      [pause, failure] = [firstPause, undefined];
    } catch (error) {
      log.warn({ error: describeError(error) }, "migration: post-copy is not recovered yet");
      failure = error instanceof Error ? error.message : String(error);
      tell(waiting);
      next = clock.now() + pause;
      pause = Math.min(2 * pause, longestPause);
    }
  };
  const look = async (): Promise<SettledSource | undefined> => {
    try {
      const settled = await settleSource(parts, options);
      if (settled.source !== "waits") return settled;
      log.info({ for: settled.for, why: settled.why }, "migration: the source waits");
      await tryToRecover(settled);
    } catch (error) {
      log.warn({ error: describeError(error) }, "migration: the source is not settled yet");
    }
    return undefined;
  };
  return await until(look, { clock, interval, signal });
}
