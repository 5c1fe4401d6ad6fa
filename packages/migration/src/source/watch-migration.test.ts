import { ManualClock } from "@virtkit/api/clock";
import { describe, expect, test } from "vitest";
import { jobStats } from "../testing/migrating-guest.ts";
import type { ConvergencePolicy } from "./convergence-policy.ts";
import type { JobStats, WatchedProgress } from "./migration-progress.ts";
import { type WatchOptions, watchMigration } from "./watch-migration.ts";

const MiB = 1024 * 1024;

const policy: ConvergencePolicy = {
  completionSeconds: 0,
  progressSeconds: 10,
  maxDowntimeMs: 300,
  allowPostCopy: false,
  allowWorkloadDisruption: false,
  hasVfio: false,
};

/** 100 MiB per second of 1 GiB, in its first iteration. */
function firstRound(atMs: number): JobStats {
  const transferred = Math.min(1024, atMs / 10) * MiB;
  const memoryBytes = 1024 * MiB;
  const remaining = memoryBytes - transferred;
  return jobStats({ memoryBytes, transferred, remaining, iteration: 1, rate: MiB, throttle: 0 });
}

function watched(options: Partial<WatchOptions>, clock = new ManualClock()) {
  const stop = new AbortController();
  const seen: WatchedProgress[] = [];
  const sample = async (): Promise<JobStats> => firstRound(clock.now());
  const watch = watchMigration({ sample, policy, clock, signal: stop.signal, ...options });
  const ended = (async () => {
    for await (const progress of watch) seen.push(progress);
  })();
  return { clock, seen, ended, stop };
}

describe("watchMigration", () => {
  test("reports progress every 400 ms, with an average rate", async () => {
    const { clock, seen, ended, stop } = watched({});
    await clock.pass(4_000);
    expect(seen.map(({ elapsedMs }) => elapsedMs)).toEqual(
      Array.from({ length: 11 }, (_, at) => at * 400),
    );
    expect(seen.at(-1)).toEqual({
      phase: "memory",
      mode: "PreCopy",
      elapsedMs: 4_000,
      total: 1024 * MiB,
      transferred: 400 * MiB,
      remaining: 624 * MiB,
      bytesPerSecond: 100 * MiB,
      momentaryBytesPerSecond: MiB,
      dirtyBytesPerSecond: 0,
      iteration: 1,
      remainingAtStart: 1024 * MiB,
      throttlePercent: 0,
      expectedDowntimeMs: 6_240,
      isStale: false,
      verdict: { action: "go-on" },
    });
    stop.abort();
    await ended;
    expect(clock.pending).toBe(0);
  });

  test("samples at once when an iteration begins", async () => {
    const events = eventSource();
    const { clock, seen, ended, stop } = watched({ iterations: events });
    await clock.pass(100);
    events.emit();
    await clock.pass(10);
    expect(seen.map(({ elapsedMs }) => elapsedMs)).toEqual([0, 100]);
    stop.abort();
    await ended;
    expect(events.isReleased).toBe(true);
  });

  test("keeps sampling when the events fail", async () => {
    const broken = {
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error("no events")) }),
    };
    const { clock, seen, ended, stop } = watched({ iterations: broken });
    await clock.pass(900);
    expect(seen).toHaveLength(3);
    stop.abort();
    await ended;
  });

  test("asks a daemon that hangs only once, and gives the migration up in time", async () => {
    let asked = 0;
    const clock = new ManualClock();
    const sample = (): Promise<JobStats> => {
      asked++;
      return asked <= 5 ? Promise.resolve(firstRound(clock.now())) : new Promise(() => {});
    };
    const { seen, ended, stop } = watched({ sample }, clock);
    await clock.pass(20_000);
    expect(asked).toBe(6);
    expect(seen.at(-1)).toMatchObject({ isStale: true, transferred: 160 * MiB });
    expect(seen.at(-1)?.verdict).toMatchObject({ action: "abort" });
    stop.abort();
    await ended;
    expect(clock.pending).toBe(0);
  });

  test("treats a failed answer as no answer", async () => {
    const warnings: unknown[] = [];
    const nothing = (): void => {};
    const log = {
      debug: nothing,
      info: nothing,
      warn: (details: unknown) => warnings.push(details),
      error: nothing,
    };
    const sample = (): Promise<JobStats> => Promise.reject(new Error("connection lost"));
    const { clock, seen, ended, stop } = watched({ sample, log });
    await clock.pass(400);
    expect(seen).toHaveLength(2);
    expect(seen[0]).toMatchObject({ phase: "setup", isStale: true, verdict: { action: "go-on" } });
    expect(warnings[0]).toEqual({ error: "Error: connection lost" });
    stop.abort();
    await ended;
  });

  test("waits for a job that has not begun, and ends with one that is over", async () => {
    const answers: JobStats[] = [
      { type: "none", params: {} },
      firstRound(0),
      { type: "none", params: {} },
    ];
    const sample = async (): Promise<JobStats> => answers.shift() ?? { type: "none", params: {} };
    const { clock, seen, ended } = watched({ sample });
    await clock.pass(2_000);
    await ended;
    expect(seen.map(({ phase }) => phase)).toEqual(["setup", "memory"]);
  });

  test("distinguishes copied disks, a pause and post-copy", async () => {
    const modes = ["PreCopy", "Paused", "PostCopy"] as const;
    let at = 0;
    const disks = { ...firstRound(0).params, disk_remaining: 5n, memory_iteration: 0n };
    const sample = async (): Promise<JobStats> =>
      at === 0 ? { type: "unbounded", params: disks } : firstRound(400);
    const mode = (): (typeof modes)[number] => modes[at++] ?? "PostCopy";
    const { clock, seen, ended, stop } = watched({ sample, mode });
    await clock.pass(900);
    expect(seen.map(({ phase }) => phase)).toEqual(["disks", "paused", "postcopy"]);
    stop.abort();
    await ended;
  });
});

interface EventSource extends AsyncIterable<unknown> {
  emit(): void;
  readonly isReleased: boolean;
}

function eventSource(): EventSource {
  let waiting: ((result: IteratorResult<unknown>) => void) | undefined;
  let isReleased = false;
  return {
    get isReleased() {
      return isReleased;
    },
    emit: () => waiting?.({ done: false, value: undefined }),
    [Symbol.asyncIterator]: () => ({
      next: () => new Promise((resolve) => (waiting = resolve)),
      return: async () => {
        isReleased = true;
        return { done: true, value: undefined };
      },
    }),
  };
}
