import { ManualClock } from "@virtkit/api/clock";
import { expect, test } from "vitest";
import { jobStats } from "../testing/migrating-guest.ts";
import type { ConvergencePolicy } from "./convergence-policy.ts";
import type { JobStats } from "./migration-progress.ts";
import { superviseMigration } from "./supervise-migration.ts";

const policy: ConvergencePolicy = {
  completionSeconds: 10,
  progressSeconds: 150,
  maxDowntimeMs: 300,
  allowPostCopy: false,
  allowWorkloadDisruption: true,
  hasVfio: false,
};

/** Data that moves and never ends. */
function endless(atMs: number): JobStats {
  const moved = { memoryBytes: 1e9, transferred: atMs * 1000, remaining: 5e8, iteration: 1 };
  return jobStats({ ...moved, rate: 1e6, throttle: 0 });
}

/** What is done to a migration in so many seconds; `fails` says how often the first thing does. */
async function doneTo(
  changes: Partial<ConvergencePolicy>,
  { seconds = 30, fails = 0 } = {},
): Promise<{ done: readonly string[]; steps: number }> {
  const clock = new ManualClock();
  const stop = new AbortController();
  const done: string[] = [];
  let [failures, steps] = [fails, 0];
  const note = async (what: string): Promise<void> => {
    if (failures-- > 0) throw new Error("libvirt said no");
    done.push(`${what} at ${clock.now() / 1000} s`);
  };
  const supervised = superviseMigration(
    {
      abort: () => void done.push(`abort at ${clock.now() / 1000} s`),
      switchToPostCopy: () => note("post-copy"),
    },
    {
      sample: async () => endless(clock.now()),
      policy: { ...policy, ...changes },
      suspend: () => note("suspend"),
      setMaxDowntime: (milliseconds) => note(`downtime ${milliseconds}`),
      onProgress: () => steps++,
      clock,
    },
    stop.signal,
  );
  await clock.pass(seconds * 1000);
  stop.abort();
  await supervised;
  expect(clock.pending).toBe(0);
  return { done, steps };
}

test("out of time, the guest is paused once, gets the same time again, and is then given up", async () => {
  const { done, steps } = await doneTo({});
  expect(done).toEqual(["suspend at 11.2 s", "abort at 21.2 s"]);
  expect(steps).toBe(54);
});

test("post-copy is started once and never given up", async () => {
  const { done } = await doneTo({ allowPostCopy: true }, { seconds: 300 });
  expect(done).toEqual(["post-copy at 11.2 s"]);
});

test("a failed action is retried while it is still needed", async () => {
  const { done } = await doneTo({ allowPostCopy: true }, { fails: 2 });
  expect(done).toEqual(["post-copy at 12 s"]);
});

test("with host devices, a longer downtime replaces the pause", async () => {
  const { done } = await doneTo({ hasVfio: true });
  expect(done).toEqual(["downtime 20000 at 11.2 s", "abort at 21.2 s"]);
});

test("nothing is done after an abort", async () => {
  const { done } = await doneTo({ allowWorkloadDisruption: false }, { seconds: 60 });
  expect(done).toEqual(["abort at 11.2 s"]);
});
