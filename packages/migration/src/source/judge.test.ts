import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type MigratingGuest, migrationSamples } from "../testing/migrating-guest.ts";
import type { ConvergencePolicy } from "./convergence-policy.ts";
import { judge, judgeNext, notJudged } from "./judge.ts";
import { judgeByTime, type MigrationMode } from "./judge-by-time.ts";
import {
  type Measurements,
  type MigrationProgress,
  measure,
  noMeasurements,
} from "./migration-progress.ts";
import type { Verdict } from "./verdict.ts";

const MiB = 1024 * 1024;

const strict: ConvergencePolicy = {
  completionSeconds: 0,
  progressSeconds: 150,
  maxDowntimeMs: 300,
  allowPostCopy: false,
  allowWorkloadDisruption: false,
  hasVfio: false,
};

interface Outcome {
  readonly verdict: Verdict;
  readonly atMs: number;
  /** What was known until then. */
  readonly history: readonly MigrationProgress[];
}

/** Watches a guest until something is to be done; `go-on` means that it moved, or that the time was up. */
function follow(
  guest: MigratingGuest,
  policy: ConvergencePolicy,
  untilMs: number,
  mode: MigrationMode = "PreCopy",
): Outcome {
  let measured: Measurements = noMeasurements;
  let known = notJudged;
  const history: MigrationProgress[] = [];
  for (const { atMs, stats } of migrationSamples(guest, untilMs)) {
    const next = measure(measured, stats, { elapsedMs: atMs, mode });
    measured = next;
    history.push(next.last);
    known = judgeNext(known, next.last, policy);
    if (known.verdict.action !== "go-on") return { verdict: known.verdict, atMs, history };
  }
  return { verdict: known.verdict, atMs: history.at(-1)?.elapsedMs ?? 0, history };
}

/** KubeVirt's measure of progress: less remains than at the sample before. */
function followAsKubevirt(
  guest: MigratingGuest,
  policy: ConvergencePolicy,
  untilMs: number,
): Verdict {
  let progressedMs = 0;
  let before = Number.POSITIVE_INFINITY;
  for (const { atMs, stats } of migrationSamples(guest, untilMs)) {
    const remaining = Number(stats.params["data_remaining"]);
    if (remaining < before) progressedMs = atMs;
    before = remaining;
    const verdict = judgeByTime(
      {
        mode: "PreCopy",
        elapsedSeconds: atMs / 1000,
        idleSeconds: (atMs - progressedMs) / 1000,
        completionSeconds: policy.completionSeconds,
      },
      policy,
    );
    if (verdict.action !== "go-on") return verdict;
  }
  return { action: "go-on" };
}

/** A guest that rewrites more and less of its memory in turn, and never little enough. */
const oscillating = fc
  .record({
    memoryMiB: fc.integer({ min: 256, max: 4096 }),
    bandwidthMiB: fc.integer({ min: 20, max: 400 }),
    /** Seconds that it takes to send what it rewrites at its busiest. */
    busiest: fc.double({ min: 2, max: 20, noNaN: true }),
    /** What it rewrites at its calmest, compared with that. */
    calmest: fc.double({ min: 0.3, max: 1, noNaN: true }),
    period: fc.integer({ min: 1, max: 6 }),
    noise: fc.double({ min: 0, max: 0.03, noNaN: true }),
  })
  .map(({ memoryMiB, bandwidthMiB, busiest, calmest, period, noise }) => {
    const rate = bandwidthMiB * MiB;
    const guest: MigratingGuest = {
      memoryBytes: memoryMiB * MiB,
      bandwidth: (atMs) => rate * (1 + noise * Math.sin(atMs / 700)),
      dirtied: (iteration) => {
        const wave = (1 + Math.cos((2 * Math.PI * iteration) / period)) / 2;
        return rate * busiest * (calmest + (1 - calmest) * wave);
      },
      downtimeMs: 300,
    };
    const firstMs = (memoryMiB / bandwidthMiB) * 1000;
    const roundMs = busiest * 1000 * 1.05;
    return { guest, firstMs, roundMs, period };
  });

describe("a guest that oscillates and does not converge", () => {
  test("is given up once its iterations have not improved for the progress timeout", () => {
    fc.assert(
      fc.property(oscillating, ({ guest, firstMs, roundMs, period }) => {
        const latest = firstMs * 1.1 + roundMs * (2 * period + 5) + 150_000 + 2_000;
        const { verdict, atMs } = follow(guest, strict, latest * 2);
        expect(verdict.action).toBe("abort");
        expect(atMs).toBeLessThanOrEqual(latest);
        expect(atMs).toBeGreaterThan(150_000);
      }),
      { numRuns: 40 },
    );
  });

  test("fools a rule that compares consecutive samples", () => {
    fc.assert(
      fc.property(oscillating, ({ guest, firstMs }) => {
        const hour = 3_600_000 + firstMs;
        expect(followAsKubevirt(guest, strict, hour)).toEqual({ action: "go-on" });
      }),
      { numRuns: 5 },
    );
  });

  const [busy] = fc.sample(oscillating, { seed: 7, numRuns: 1 });
  if (!busy) throw new Error("there is a sample");

  test.each([
    ["post-copy if the policy allows it", { allowPostCopy: true }, "postcopy"],
    ["a pause if post-copy is not allowed", {}, "pause"],
    ["a longer downtime with host devices", { allowPostCopy: true, hasVfio: true }, "set-downtime"],
  ])("is interrupted if allowed: %s", (_what, changes, action) => {
    const policy = { ...strict, allowWorkloadDisruption: true, ...changes };
    expect(follow(busy.guest, policy, 3_600_000).verdict.action).toBe(action);
  });

  test("may be paused for as long as the policy says before anything else is done", () => {
    const policy = { ...strict, maxDowntimeMs: 30_000, allowWorkloadDisruption: true };
    const { verdict, history } = follow(busy.guest, policy, 3_600_000);
    expect(verdict).toMatchObject({ action: "set-downtime", maxDowntimeMs: 30_000 });
    expect(judge(history, policy)).toEqual(verdict);
    expect(judge(history.slice(0, -1), policy)).toEqual({ action: "go-on" });
  });
});

describe("a guest that converges", () => {
  const converging = fc
    .record({
      memoryMiB: fc.integer({ min: 256, max: 8192 }),
      bandwidthMiB: fc.integer({ min: 20, max: 400 }),
      /** What an iteration leaves of the one before. */
      ratio: fc.double({ min: 0.3, max: 0.93, noNaN: true }),
      busiest: fc.double({ min: 1, max: 30, noNaN: true }),
      noise: fc.double({ min: 0, max: 0.02, noNaN: true }),
    })
    .map(({ memoryMiB, bandwidthMiB, ratio, busiest, noise }): MigratingGuest => {
      const rate = bandwidthMiB * MiB;
      return {
        memoryBytes: memoryMiB * MiB,
        bandwidth: (atMs) => rate * (1 + noise * Math.sin(atMs / 700)),
        dirtied: (iteration) => rate * busiest * ratio ** iteration,
        downtimeMs: 300,
      };
    });

  test("is never given up before its deadline", () => {
    fc.assert(
      fc.property(converging, (guest) => {
        const { verdict, atMs } = follow(guest, strict, 7_200_000);
        expect(verdict).toEqual({ action: "go-on" });
        expect(atMs).toBeLessThan(7_000_000);
      }),
      { numRuns: 60 },
    );
  });

  test("may be slowed down: each step of auto-converge is progress", () => {
    const guest: MigratingGuest = {
      memoryBytes: 4096 * MiB,
      bandwidth: () => 20 * MiB,
      // Nothing changes until the CPUs have only 30 per cent left.
      dirtied: (iteration) => (iteration < 12 ? 1600 : 1600 * 0.2 ** (iteration - 11)) * MiB,
      throttle: (iteration) => Math.min(99, Math.floor(iteration / 2) * 10),
      downtimeMs: 300,
    };
    expect(follow(guest, strict, 7_200_000).verdict).toEqual({ action: "go-on" });
    const { throttle: _, ...unthrottled } = guest;
    expect(follow(unthrottled, strict, 7_200_000).verdict.action).toBe("abort");
  });

  test("is out of time at its deadline, whatever it does", () => {
    const guest: MigratingGuest = {
      memoryBytes: 4096 * MiB,
      bandwidth: () => 20 * MiB,
      dirtied: (iteration) => 1000 * MiB * 0.9 ** iteration,
      downtimeMs: 300,
    };
    const policy = { ...strict, completionSeconds: 300 };
    const late = follow(guest, policy, 7_200_000);
    expect(late).toMatchObject({ verdict: { action: "abort" }, atMs: 301_200 });
    const disturbed = follow(guest, { ...policy, allowWorkloadDisruption: true }, 7_200_000);
    expect(disturbed.verdict).toMatchObject({ action: "pause", completionSeconds: 600 });
    expect(follow(guest, policy, 7_200_000, "Paused").atMs).toBeGreaterThan(600_000);
    expect(follow(guest, policy, 7_200_000, "PostCopy").verdict).toEqual({ action: "go-on" });
  });
});

describe("data that does not move", () => {
  const cut = (atMs: number): MigratingGuest => ({
    memoryBytes: 1024 * MiB,
    bandwidth: (now) => (now < atMs ? 100 * MiB : 0),
    dirtied: () => 400 * MiB,
    downtimeMs: 300,
  });

  test.each([3_000, 30_000, 140_000])(
    "is given up after the progress timeout (from %d ms)",
    (atMs) => {
      const policy = { ...strict, allowWorkloadDisruption: true, allowPostCopy: true };
      const { verdict, atMs: endedMs } = follow(cut(atMs), policy, 1_000_000);
      expect(verdict).toMatchObject({
        action: "abort",
        reason: expect.stringContaining("no data"),
      });
      expect(endedMs).toBeGreaterThan(atMs + 150_000);
      expect(endedMs).toBeLessThan(atMs + 152_000);
    },
  );

  test("is not a reason for post-copy or a pause: out of time, it is given up", () => {
    const policy = {
      ...strict,
      completionSeconds: 60,
      allowWorkloadDisruption: true,
      allowPostCopy: true,
    };
    const { verdict, atMs } = follow(cut(30_000), policy, 1_000_000);
    expect(verdict.action).toBe("abort");
    expect(atMs).toBeLessThan(62_000);
    expect(followAsKubevirt(cut(30_000), policy, 1_000_000).action).toBe("postcopy");
  });

  test("may continue forever if the policy says so", () => {
    expect(follow(cut(3_000), { ...strict, progressSeconds: 0 }, 600_000).verdict.action).toBe(
      "go-on",
    );
  });
});
