import { performance } from "node:perf_hooks";
import { expect, test } from "vitest";
import { beginWorld } from "../testing/schedules/begin-world.ts";
import { exploreSchedules, scheduleReportText } from "../testing/schedules/explore-schedules.ts";
import { runSchedule } from "../testing/schedules/run-schedule.ts";

/** As many as take some seconds; `npm run check:schedules` runs more. */
const schedules = Number(process.env["VIRTKIT_SEEDS"] ?? 1) * 100;
const first = Number(process.env["VIRTKIT_SEED"] ?? 1);
const now = () => performance.now();

test("the whole control plane under faults: at most one copy at every step, and it settles", async () => {
  const report = await exploreSchedules({ first, count: schedules, now });
  expect(report.violations, scheduleReportText(report)).toEqual([]);
  expect(report.digests.size).toBe(schedules);
});

test("a seed gives the same schedule again", async () => {
  const starts = await beginWorld();
  const once = await runSchedule(first, { starts, isTraced: true });
  const again = await runSchedule(first, { starts, isTraced: true });
  expect(again).toEqual(once);
});

// A few seeds before one that finds it, so that it does not take long; whatever changes the schedules, one of these must find it.
test.each([
  ["writes whose conditions are ignored", 70, { ignoresConditions: true }],
  ["a target that continues by itself when its link breaks", 690, { isImpatient: true }],
])("control: finds %s", async (_, seed, planted) => {
  const report = await exploreSchedules({
    ...{ first: seed, count: 2_000, stopsAtViolation: true, now, ...planted },
  });
  expect(report.violations).not.toEqual([]);
});
