import type { ParameterValue, Result } from "@virtkit/domain-manager/libvirt";
import type { MigrationMode } from "./judge-by-time.ts";
import type { Verdict } from "./verdict.ts";

/** What libvirt reports about a job. */
export type JobStats = Pick<Result<"domainGetJobStats">, "type" | "params"> & {
  /** Each disk that is being copied. */
  readonly disks?: readonly DiskProgress[];
};

/** What a migration is doing. */
export type MigrationPhase =
  /** Connections are being opened; nothing is counted yet. */
  | "setup"
  /** Disks are being copied; memory follows when all of them are in sync. */
  | "disks"
  | "memory"
  /** The guest is paused at the source while the rest is sent. */
  | "paused"
  /** The guest runs at the target and fetches the missing memory. */
  | "postcopy";

/** The progress of a migration. Amounts are in bytes. */
export interface MigrationProgress {
  readonly phase: MigrationPhase;
  readonly mode: MigrationMode;
  /** Milliseconds since the watch began. */
  readonly elapsedMs: number;
  readonly total: number;
  readonly transferred: number;
  readonly remaining: number;
  /** Average of the last ten seconds. libvirt's own figure, over 100 ms, jumps between 5 and 100 per cent. */
  readonly bytesPerSecond: number;
  /** libvirt's own figure; 0 if there is none. */
  readonly momentaryBytesPerSecond: number;
  /** What the guest wrote per second in the last iteration. libvirt counts it once per iteration. */
  readonly dirtyBytesPerSecond: number;
  /** Round of memory, from 1; 0 before the first. */
  readonly iteration: number;
  /** What remained when the iteration began, which is the measure of convergence. */
  readonly remainingAtStart: number;
  /** How much auto-converge slows the guest's CPUs, in per cent. */
  readonly throttlePercent: number;
  /**
   * Progress of each copied disk, by the guest's name for it; absent if none is copied, or libvirt does not report
   * it.
   */
  readonly disks?: readonly DiskProgress[];
  /** How long the guest would be paused if it were stopped now, in ms; absent without a bandwidth. */
  readonly expectedDowntimeMs?: number;
  /** When it is expected to end, in ms since the watch began; absent while no end is in sight. */
  readonly expectedEndMs?: number;
  /** `true` if libvirt did not answer in time: the figures are those of the last answer. */
  readonly isStale: boolean;
}

/** Progress of one disk's copy, in bytes. */
export interface DiskProgress {
  /** For example `vda`. */
  readonly target: string;
  readonly total: number;
  readonly remaining: number;
}

/** One step of the watch. */
export interface WatchedProgress extends MigrationProgress {
  /** What to do now. */
  readonly verdict: Verdict;
}

/** What a measurement needs from earlier ones. */
export interface Measurements {
  readonly last: MigrationProgress | undefined;
  /** How much had been sent at what time, oldest first, over the last ten seconds. */
  readonly sent: readonly (readonly [atMs: number, bytes: number])[];
  /** What remained when the previous iteration began. */
  readonly previousStart: number | undefined;
}

export const noMeasurements: Measurements = {
  last: undefined,
  sent: [],
  previousStart: undefined,
};

const windowMs = 10_000;

/** Adds libvirt's latest answer; `undefined` if it did not answer. */
export function measure(
  before: Measurements,
  stats: JobStats | undefined,
  { elapsedMs, mode }: { readonly elapsedMs: number; readonly mode: MigrationMode },
): Measurements & { readonly last: MigrationProgress } {
  const { last } = before;
  if (!stats) {
    const stale = { ...(last ?? nothingYet), mode, elapsedMs, isStale: true };
    return { ...before, last: { ...stale, phase: phaseOf(stale, false) } };
  }
  const amount = (name: string): number => readAmount(stats.params[name]);
  const iteration = amount("memory_iteration");
  const transferred = amount("data_processed");
  const remaining = amount("data_remaining");
  const isStart = iteration > (last?.iteration ?? 0);
  const remainingAtStart = isStart ? remaining : (last?.remainingAtStart ?? remaining);
  const previousStart = isStart ? last?.remainingAtStart : before.previousStart;
  const sent = [...before.sent, [elapsedMs, transferred] as const].filter(
    ([atMs]) => elapsedMs - atMs <= windowMs,
  );
  const bytesPerSecond = averageRate(sent) ?? amount("memory_bps");
  const figures = {
    ...{ mode, elapsedMs, transferred, remaining, iteration, remainingAtStart, bytesPerSecond },
    total: amount("data_total"),
    momentaryBytesPerSecond: amount("memory_bps"),
    dirtyBytesPerSecond: amount("memory_dirty_rate") * amount("memory_page_size"),
    throttlePercent: amount("auto_converge_throttle"),
    isStale: false,
    ...(stats.disks && { disks: stats.disks }),
  };
  // A mirror's job exists before the totals include it, and as long as memory must wait for it.
  const isMirroring = amount("disk_remaining") > 0 || (stats.disks ?? []).length > 0;
  const copiesDisks = iteration === 0 && isMirroring;
  const phase = phaseOf(figures, copiesDisks);
  const progress = { ...figures, phase, ...expectations(figures, previousStart) };
  return { last: progress, sent, previousStart };
}

const nothingYet: MigrationProgress = {
  phase: "setup",
  mode: "PreCopy",
  elapsedMs: 0,
  total: 0,
  transferred: 0,
  remaining: 0,
  bytesPerSecond: 0,
  momentaryBytesPerSecond: 0,
  dirtyBytesPerSecond: 0,
  iteration: 0,
  remainingAtStart: 0,
  throttlePercent: 0,
  isStale: false,
};

/** A counter from libvirt: a missing or negative one counts as 0. */
function readAmount(value: ParameterValue | undefined): number {
  const number = Number(value ?? 0);
  return Number.isFinite(number) && number > 0 ? number : 0;
}

function averageRate(sent: Measurements["sent"]): number | undefined {
  const [first, last] = [sent[0], sent.at(-1)];
  if (!first || !last || last[0] - first[0] < 1000) return undefined;
  return Math.max(0, ((last[1] - first[1]) * 1000) / (last[0] - first[0]));
}

function phaseOf(
  { mode, total, transferred }: Pick<MigrationProgress, "mode" | "total" | "transferred">,
  copiesDisks: boolean,
): MigrationPhase {
  if (mode === "PostCopy") return "postcopy";
  if (mode === "Paused") return "paused";
  if (copiesDisks) return "disks";
  return total === 0 && transferred === 0 ? "setup" : "memory";
}

/**
 * The end is in sight when rounds leave less and less, or when nothing is written any longer: each round then takes
 * a fixed share of the previous one's time.
 */
function expectations(
  progress: Omit<MigrationProgress, "phase" | "expectedDowntimeMs" | "expectedEndMs">,
  previousStart: number | undefined,
): Pick<MigrationProgress, "expectedDowntimeMs" | "expectedEndMs"> {
  const { mode, remaining, bytesPerSecond, iteration, elapsedMs, remainingAtStart } = progress;
  if (bytesPerSecond <= 0) return {};
  const restMs = (remaining / bytesPerSecond) * 1000;
  const expectedDowntimeMs = Math.ceil(restMs);
  if (mode !== "PreCopy") return { expectedDowntimeMs, expectedEndMs: elapsedMs + restMs };
  if (iteration <= 1 || !previousStart) return { expectedDowntimeMs };
  const ratio = remainingAtStart / previousStart;
  if (ratio > 0.96) return { expectedDowntimeMs };
  return { expectedDowntimeMs, expectedEndMs: elapsedMs + restMs / (1 - ratio) };
}
