import { beginWorld } from "./begin-world.ts";
import { runSchedule, type ScheduleOptions, type ScheduleResult } from "./run-schedule.ts";

/** The result of many schedules. */
export interface ScheduleReport {
  readonly schedules: number;
  /** Digests of their choices. */
  readonly digests: Set<number>;
  readonly steps: number;
  readonly choices: number;
  readonly milliseconds: number;
  readonly violations: readonly ScheduleResult[];
  /** How often each fault occurred, by the migration's phase and the grant's state at that time. */
  readonly phases: Coverage;
  readonly grants: Coverage;
  /** Where the guest was in the end. */
  readonly ends: Readonly<Record<string, number>>;
}

/** Counts by fault, and by what the fault hit. */
export type Coverage = Record<string, Record<string, number>>;

/** Which schedules are run. */
export interface ExploreOptions extends Omit<ScheduleOptions, "starts"> {
  readonly first: number;
  readonly count: number;
  /** Whether it ends with the first violation. */
  readonly stopsAtViolation?: boolean;
  /** Milliseconds after which it ends, however many are left. */
  readonly limit?: number;
  /** Called now and then with the number that have been run. */
  readonly onProgress?: (schedules: number, distinct: number) => void;
  /** Milliseconds since a fixed point in time. */
  readonly now: () => number;
}

const mostKept = 20;
const progressEvery = 1_000;

/** Runs schedules one after another, and counts what they met. */
export async function exploreSchedules(options: ExploreOptions): Promise<ScheduleReport> {
  const { first, count, stopsAtViolation = false, limit, onProgress, now, ...how } = options;
  const starts = await beginWorld();
  const report = { ...emptyReport(), violations: [] as ScheduleResult[] };
  const begun = now();
  for (let seed = first; seed < first + count; seed++) {
    const result = await runSchedule(seed, { ...how, starts });
    report.schedules++;
    report.digests.add(result.digest);
    report.steps += result.steps;
    report.choices += result.choices;
    report.ends[result.end] = (report.ends[result.end] ?? 0) + 1;
    for (const fault of result.faults) {
      const [name = "", phase = "", grant = ""] = fault.split(" | ");
      add(report.phases, name, phase, 1);
      add(report.grants, name, grant, 1);
    }
    if (result.violation && report.violations.length < mostKept) report.violations.push(result);
    if (report.schedules % progressEvery === 0) onProgress?.(report.schedules, report.digests.size);
    if (result.violation && stopsAtViolation) break;
    if (limit !== undefined && now() - begun > limit) break;
  }
  report.milliseconds = now() - begun;
  return report;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

function emptyReport(): Mutable<ScheduleReport> & { ends: Record<string, number> } {
  const none = { schedules: 0, steps: 0, choices: 0, milliseconds: 0 };
  return { ...none, digests: new Set(), violations: [], phases: {}, grants: {}, ends: {} };
}

function add(coverage: Coverage, row: string, column: string, count: number): void {
  const counts = coverage[row] ?? {};
  coverage[row] = counts;
  counts[column] = (counts[column] ?? 0) + count;
}

/** The reports of several processes, merged into one. */
export function joinReports(reports: readonly ScheduleReport[]): ScheduleReport {
  const all = emptyReport();
  const violations: ScheduleResult[] = [];
  for (const report of reports) {
    all.schedules += report.schedules;
    all.steps += report.steps;
    all.choices += report.choices;
    all.milliseconds = Math.max(all.milliseconds, report.milliseconds);
    for (const digest of report.digests) all.digests.add(digest);
    violations.push(...report.violations);
    for (const kind of ["phases", "grants"] as const) {
      for (const [row, counts] of Object.entries(report[kind])) {
        for (const [column, count] of Object.entries(counts)) add(all[kind], row, column, count);
      }
    }
    for (const [end, count] of Object.entries(report.ends)) {
      all.ends[end] = (all.ends[end] ?? 0) + count;
    }
  }
  return { ...all, violations };
}

const phaseColumns = [
  ...["none", "new", "Pending", "Scheduling", "Scheduled", "PreparingTarget", "TargetReady"],
  ...["Running", "Succeeded", "Failed"],
];
const grantColumns = ["Claimed", "HandingOver", "Released", "Ended", "none"];

/** A readable report. */
export function scheduleReportText(report: ScheduleReport): string {
  const { schedules, digests, steps, choices, milliseconds, violations, phases, grants } = report;
  const seconds = milliseconds / 1000;
  const lines = [
    `${schedules} schedules, ${digests.size} distinct, ${steps} steps, ${choices} choices, ${seconds.toFixed(0)} s, ${violations.length} violations`,
    ...Object.entries(report.ends).map(([end, count]) => `  ${count} times the guest ${end}`),
    ...table("fault by phase of the migration", phases, phaseColumns),
    ...table("fault by state of the run grant", grants, grantColumns),
    ...violations.flatMap(({ seed, violation, faults }) => [
      `seed ${seed}: ${violation}`,
      ...faults.map((fault) => `  ${fault}`),
    ]),
  ];
  return lines.join("\n");
}

function table(title: string, coverage: Coverage, columns: readonly string[]): readonly string[] {
  const rows = Object.entries(coverage).toSorted(([a], [b]) => a.localeCompare(b));
  return [
    "",
    `| ${title} | ${columns.join(" | ")} |`,
    `|---|${columns.map(() => "---:|").join("")}`,
    ...rows.map(
      ([row, counts]) => `| ${row} | ${columns.map((each) => counts[each] ?? 0).join(" | ")} |`,
    ),
  ];
}
