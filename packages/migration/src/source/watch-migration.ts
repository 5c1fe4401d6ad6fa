import { type Clock, realClock, sleep } from "@virtkit/api/clock";
import { describeError, type Observers, silentLog } from "@virtkit/api/observe";
import type { ConvergencePolicy } from "./convergence-policy.ts";
import { judgeNext, notJudged } from "./judge.ts";
import type { MigrationMode } from "./judge-by-time.ts";
import {
  type JobStats,
  type Measurements,
  measure,
  noMeasurements,
  type WatchedProgress,
} from "./migration-progress.ts";

/** How a migration is watched. */
export interface WatchOptions extends Pick<Observers, "log"> {
  /** Asks the source's libvirt for the job's statistics. Not called again before it has answered. */
  readonly sample: () => Promise<JobStats>;
  readonly policy: ConvergencePolicy;
  /** How memory is being transferred. Default: `PreCopy`. */
  readonly mode?: () => MigrationMode;
  /** libvirt's events of a new iteration; each triggers a sample. */
  readonly iterations?: AsyncIterable<unknown>;
  /** Time between two samples. Default: 400 ms. */
  readonly intervalMs?: number;
  /** How long to wait for an answer before time continues without it. Default: 5 s. */
  readonly sampleTimeoutMs?: number;
  readonly clock?: Clock;
  /** Ends the watch; abort it when *perform* has answered. */
  readonly signal?: AbortSignal;
}

/**
 * Watches a migration until the signal, or until libvirt says that the job is over. Each step says where
 * it stands and, in `verdict`, what to do now; carrying that out is the caller's part, and the verdict
 * is repeated until the mode or the figures change. A libvirt that fails or does not answer ends
 * nothing: the figures are then marked as stale, and data that does not move for too long is given up.
 *
 * @example
 * ```ts
 * for await (const { verdict, remaining } of watchMigration({ sample, policy: plan.policy, signal })) {
 *   if (verdict.action === "abort") await control.call("domainAbortJob", { dom });
 * }
 * ```
 */
export async function* watchMigration(options: WatchOptions): AsyncGenerator<WatchedProgress> {
  const { policy, mode = () => "PreCopy", signal, clock = realClock } = options;
  const { intervalMs = 400, log = silentLog } = options;
  const bell = new Bell();
  const stopListening = listen(options.iterations, () => bell.ring(), log);
  const ask = asker(options);
  const start = clock.now();
  let measured: Measurements = noMeasurements;
  let convergence = notJudged;
  try {
    while (!signal?.aborted) {
      const stats = await ask();
      if (signal?.aborted || (stats && isOver(stats, measured))) return;
      const next = measure(measured, stats, { elapsedMs: clock.now() - start, mode: mode() });
      measured = next;
      convergence = judgeNext(convergence, next.last, policy);
      yield { ...next.last, verdict: convergence.verdict };
      await bell.wait(clock, intervalMs, signal);
    }
  } finally {
    stopListening();
  }
}

/** A source has no job before *perform* has started one, nor after it is over. */
function isOver({ type }: JobStats, { last }: Measurements): boolean {
  if (type === "none") return (last?.total ?? 0) > 0;
  return type === "completed" || type === "failed" || type === "cancelled";
}

/** One question at a time: a daemon that hangs must not collect them. */
function asker({
  sample,
  sampleTimeoutMs = 5_000,
  clock = realClock,
  signal,
  log = silentLog,
}: WatchOptions): () => Promise<JobStats | undefined> {
  let pending: Promise<JobStats | undefined> | undefined;
  const answer = async (): Promise<JobStats | undefined> => {
    try {
      return await sample();
    } catch (error) {
      log.warn(
        { error: describeError(error) },
        "libvirt did not report the progress of the migration",
      );
      return undefined;
    } finally {
      pending = undefined;
    }
  };
  return async () => {
    pending ??= answer();
    const timer = new AbortController();
    const stop = (): void => timer.abort();
    signal?.addEventListener("abort", stop);
    try {
      const timeout = sleep(clock, sampleTimeoutMs, timer.signal).then(() => undefined);
      return await Promise.race([pending, timeout]);
    } finally {
      signal?.removeEventListener("abort", stop);
      stop();
    }
  };
}

/** Shortens a wait. A ring while nobody waits shortens the next one. */
class Bell {
  #rung = false;
  #wake: (() => void) | undefined;

  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }

  async wait(clock: Clock, milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
    const timer = new AbortController();
    const stop = (): void => timer.abort();
    this.#wake = stop;
    signal?.addEventListener("abort", stop);
    try {
      if (!this.#rung && !signal?.aborted) await sleep(clock, milliseconds, timer.signal);
    } finally {
      this.#rung = false;
      this.#wake = undefined;
      signal?.removeEventListener("abort", stop);
    }
  }
}

/** Calls back at each event. Returns a function that stops it. */
function listen(
  events: AsyncIterable<unknown> | undefined,
  callback: () => void,
  log: NonNullable<Observers["log"]>,
): () => void {
  if (!events) return () => {};
  const iterator = events[Symbol.asyncIterator]();
  let isStopped = false;
  const loop = async (): Promise<void> => {
    while (!isStopped && !(await iterator.next()).done) callback();
  };
  loop().catch((error: unknown) => {
    log.warn({ error: describeError(error) }, "no more iteration events; sampling continues");
  });
  return () => {
    isStopped = true;
    iterator.return?.().catch(() => {
      // Nobody listens any longer.
    });
  };
}
