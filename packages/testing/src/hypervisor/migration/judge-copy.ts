import type { MigrateRequest } from "@virtkit/launcher/channel";
import type { CopyFigures } from "./memory-copy.ts";

type Options = MigrateRequest["options"];

/** What is done about a copy. */
export type CopyVerdict =
  | { readonly action: "go-on" }
  | { readonly action: "abort" | "postcopy" | "pause"; readonly reason: string };

/** What is remembered of a copy to judge it. */
export interface CopyJudgement {
  readonly bestMs: number;
  readonly improvedAt: number;
  readonly movedAt: number;
  readonly idleIterations: number;
  readonly last: CopyFigures | undefined;
  readonly verdict: CopyVerdict;
}

export const notJudged: CopyJudgement = {
  bestMs: Number.POSITIVE_INFINITY,
  improvedAt: 0,
  movedAt: 0,
  idleIterations: 0,
  last: undefined,
  verdict: { action: "go-on" },
};

/** What is known about a copy at one moment. Milliseconds since it began. */
export interface CopyMoment {
  readonly copy: CopyFigures;
  readonly elapsed: number;
  readonly bandwidth: number;
  readonly mode: "PreCopy" | "Paused";
}

/** The rules of the migration's supervisor: what is noise, and how many iterations are significant. */
const margin = 0.04;
const stillMs = 5_000;
const iterationsToTell = 3;

/** Judges a copy as the supervisor of a migration does, without its detection of stalls by samples. */
export function judgeCopy(
  before: CopyJudgement,
  moment: CopyMoment,
  options: Options,
): CopyJudgement {
  const known = remember(before, moment);
  return { ...known, verdict: verdictOf(known, moment, options) };
}

function remember(before: CopyJudgement, { copy, elapsed, bandwidth }: CopyMoment): CopyJudgement {
  const { last } = before;
  const moved = copy.transferred !== last?.transferred;
  const known = { ...before, last: copy, movedAt: moved ? elapsed : before.movedAt };
  if (copy.iteration <= 1) return { ...known, improvedAt: elapsed };
  const fresh = { improvedAt: elapsed, idleIterations: 0 };
  if (copy.throttlePercent > (last?.throttlePercent ?? 0)) return { ...known, ...fresh };
  if (copy.iteration === last?.iteration) return known;
  const needed =
    bandwidth > 0 ? (copy.remainingAtStart / bandwidth) * 1000 : Number.POSITIVE_INFINITY;
  if (needed < known.bestMs * (1 - margin)) return { ...known, ...fresh, bestMs: needed };
  return { ...known, idleIterations: known.idleIterations + 1 };
}

function verdictOf(
  known: CopyJudgement,
  { copy, elapsed, mode }: CopyMoment,
  options: Options,
): CopyVerdict {
  const { progressTimeout, completionTimeoutPerGiB } = options;
  const seconds = Math.floor(elapsed / 1000);
  const idle = Math.floor((elapsed - known.movedAt) / 1000);
  const isStill = elapsed - known.movedAt > stillMs;
  const gigabytes = Math.ceil(copy.total / 1e9);
  const limit = completionTimeoutPerGiB * gigabytes * (mode === "Paused" ? 2 : 1);
  const isOutOfTime = limit > 0 && seconds > limit;
  const isConverging =
    mode === "Paused" ||
    isStill ||
    progressTimeout === 0 ||
    known.idleIterations < iterationsToTell ||
    elapsed - known.improvedAt <= progressTimeout * 1000;
  const reason = isOutOfTime
    ? `not complete after ${seconds} of ${limit} seconds`
    : `the remaining data has not decreased for ${progressTimeout} seconds`;
  const mustEnd = isOutOfTime || !isConverging;
  if (mustEnd && options.allowWorkloadDisruption && mode === "PreCopy" && !isStill) {
    return { action: options.allowPostCopy ? "postcopy" : "pause", reason };
  }
  if (progressTimeout !== 0 && idle > progressTimeout) {
    return { action: "abort", reason: `no data moved for ${idle} seconds` };
  }
  return mustEnd ? { action: "abort", reason } : { action: "go-on" };
}
