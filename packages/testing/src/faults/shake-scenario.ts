import type { Clock } from "@virtkit/api/clock";
import type { SeededRandom } from "../virtual-time/seeded-random.ts";
import {
  type Disturbance,
  type EventFault,
  passingErrors,
  type RequestFault,
} from "./disturbance.ts";
import { playScenario, type Scenario } from "./play-scenario.ts";
import { startUnrest } from "./unrest.ts";

/** Options of {@link shakeScenario}. */
export interface ShakeOptions {
  /** Which seeds are played. */
  readonly seeds: readonly number[];
  /** How often something goes wrong, of all requests and events. By default 0.1. */
  readonly rate?: number;
  /** For how many milliseconds of virtual time faults occur; then all must recover. By default two minutes. */
  readonly lasts?: number;
  /** Whether parts of the cluster are partitioned and dates jump. Default true. */
  readonly unrest?: boolean;
}

/** The result of a scenario under random faults. */
export interface ShakeReport {
  readonly scenario: string;
  readonly seeds: number;
  /** Digests of what happened, in order and with times: as many as seeds if no two runs were the same. */
  readonly schedules: ReadonlySet<string>;
  readonly findings: readonly {
    readonly seed: number;
    readonly message: string;
    readonly changes: readonly string[];
  }[];
}

/**
 * Plays a scenario once for each seed, with random faults of all kinds: crashes, requests without a reply (with and
 * without effect), conflicts, overload, slow requests, watches that lag, break, repeat themselves or go silent,
 * partitions between any two parts, and jumping clocks. The same seed gives the same run.
 */
export async function shakeScenario(
  scenario: Scenario,
  options: ShakeOptions,
): Promise<ShakeReport> {
  const { seeds, rate = 0.1, lasts = 120_000, unrest = true } = options;
  const actors = Object.keys(scenario.actors);
  const findings: ShakeReport["findings"][number][] = [];
  const schedules = new Set<string>();
  for (const seed of seeds) {
    const { failure, schedule } = await playScenario(
      scenario,
      (_, { random, clock }) => chance({ random: random.fork(), clock, rate, lasts }),
      { seed },
      (cluster, note) => {
        const { random } = cluster;
        cluster.stirUntil(lasts);
        if (unrest) startUnrest({ cluster, random: random.fork(), actors, lasts, note });
      },
    );
    schedules.add(schedule);
    if (failure) findings.push({ seed, ...failure });
  }
  return { scenario: scenario.name, seeds: seeds.length, schedules, findings };
}

/** A readable report: what was found, what happened before, and how to replay it. */
export function shakeReportText({ scenario, seeds, findings }: ShakeReport): string {
  const head = `${scenario}: ${seeds} seeds, ${findings.length} found something`;
  const parts = findings.map(({ seed, message, changes }) =>
    [
      `\nseed ${seed}: ${message}`,
      ...changes.map((line) => `  ${line}`),
      `  again: shakeScenario(scenario, { seeds: [${seed}] })`,
    ].join("\n"),
  );
  return [head, ...parts].join("\n");
}

interface Chance {
  readonly random: SeededRandom;
  readonly clock: Clock;
  readonly rate: number;
  readonly lasts: number;
}

/** Random faults, until they stop. */
function chance({ random, clock, rate, lasts }: Chance): Disturbance {
  const strikes = (): boolean => clock.now() < lasts && random.number() < rate;
  const request = (isWrite: boolean): RequestFault | undefined => {
    if (!strikes()) return undefined;
    const faults: RequestFault[] = [
      { kind: "slow", milliseconds: random.below(10_000) },
      { kind: "no-answer", effect: false },
      { kind: "no-answer", effect: true },
      { kind: "refused", error: pick(random, passingErrors)() },
      ...(isWrite
        ? ([
            { kind: "crash", when: "before" },
            { kind: "crash", when: "after" },
          ] as const)
        : []),
    ];
    return pick(random, faults);
  };
  return {
    write: () => request(true),
    read: () => request(false),
    event(): EventFault | undefined {
      if (!strikes()) return undefined;
      return pick(random, [
        { kind: "late", milliseconds: random.below(30_000) },
        { kind: "blind", milliseconds: random.below(30_000) },
        { kind: "cut" },
        { kind: "twice" },
      ] as const);
    },
  };
}

function pick<T>(random: SeededRandom, list: readonly T[]): T {
  return list[random.below(list.length)] as T;
}
