import { describe, expect, test } from "vitest";
import { type MigratingGuest, migrationSamples } from "../testing/migrating-guest.ts";
import type { ConvergencePolicy } from "./convergence-policy.ts";
import { judgeNext, notJudged } from "./judge.ts";
import { type Measurements, measure, noMeasurements } from "./migration-progress.ts";
import type { Verdict } from "./verdict.ts";

const MiB = 1024 * 1024;

const policy: ConvergencePolicy = {
  completionSeconds: 600,
  progressSeconds: 150,
  maxDowntimeMs: 900,
  allowPostCopy: false,
  allowWorkloadDisruption: false,
  hasVfio: false,
  stallDetection: {
    margin: 0.04,
    progressTimeout: 40,
    switchoverTimeout: 60,
    ewmaAlpha: 0.4,
    precopyPossibleFactor: 1.5,
    patienceDecay: 0.5,
    searchLocalMinima: true,
    completionTimeoutFactor: 2,
  },
};

/** Rewrites as much as takes so many seconds, over and over. */
const busy = (seconds: number): MigratingGuest => ({
  memoryBytes: 1024 * MiB,
  bandwidth: () => 100 * MiB,
  dirtied: () => seconds * 100 * MiB,
  downtimeMs: 300,
});

/** What is to be done with a guest, in order; a verdict that repeats counts once. */
function verdicts(guest: MigratingGuest, changes: Partial<ConvergencePolicy>): readonly Verdict[] {
  let measured: Measurements = noMeasurements;
  let known = notJudged;
  const found: Verdict[] = [];
  for (const { atMs, stats } of migrationSamples(guest, 1_500_000)) {
    const next = measure(measured, stats, { elapsedMs: atMs, mode: "PreCopy" });
    measured = next;
    known = judgeNext(known, next.last, { ...policy, ...changes });
    const last = found.at(-1)?.action ?? "go-on";
    if (known.verdict.action !== "go-on" && known.verdict.action !== last)
      found.push(known.verdict);
  }
  return found;
}

describe("with stall detection, a guest that has stalled", () => {
  test.each([
    [
      "is switched to post-copy if allowed",
      5,
      { allowWorkloadDisruption: true, allowPostCopy: true },
      "postcopy",
    ],
    [
      "is stopped for as long as it takes if disruption is allowed",
      5,
      { allowWorkloadDisruption: true },
      "set-downtime",
    ],
    ["is stopped for the allowed downtime if that is enough", 1.2, {}, "set-downtime"],
    ["is given up if that is not enough", 5, {}, "abort"],
  ])("%s", (_what, seconds, changes, action) => {
    expect(verdicts(busy(seconds), changes)[0]?.action).toBe(action);
  });

  test("that does not stop in time is given up", () => {
    const found = verdicts(busy(1.2), {});
    expect(found.map(({ action }) => action)).toEqual(["set-downtime", "abort"]);
  });

  test("that has no window to show it yet is out of time all the same", () => {
    const slow = { ...busy(300), memoryBytes: 1024 * MiB };
    expect(verdicts(slow, { completionSeconds: 60 })[0]?.action).toBe("abort");
  });
});

test("without time for anything, and with post-copy allowed, ends in post-copy", () => {
  const found = verdicts(busy(30), { completionSeconds: 60, allowPostCopy: true });
  expect(found[0]?.action).toBe("postcopy");
});
