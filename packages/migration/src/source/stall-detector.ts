import type { StallDetection } from "./migration-options.ts";

/** An iteration of a migration, at its beginning. */
export interface IterationRecord {
  readonly elapsedMs: number;
  readonly remainingBytes: number;
}

/** What is known about a migration's iterations so far. */
export interface StallState {
  /** The average bandwidth in bytes per second; 0 until there is a sample. */
  readonly bandwidth: number;
  /** Records within the window that may become the best outside of it, each lower than the one before. */
  readonly candidates: readonly IterationRecord[];
  /** The best record that is older than the window. */
  readonly bestOutside: IterationRecord | undefined;
  /** Set once the migration has stalled. */
  readonly search: MinimumSearch | undefined;
  /** Whether something has been done about it. */
  readonly acted: boolean;
}

/** The wait for a moment at which little remains. */
interface MinimumSearch {
  readonly bestBytes: number;
  /** What remained at the iterations since, without those that were the target. */
  readonly history: readonly number[];
  readonly patienceMs: number;
  readonly deadlineMs: number;
}

export const noIterations: StallState = {
  bandwidth: 0,
  candidates: [],
  bestOutside: undefined,
  search: undefined,
  acted: false,
};

/** Adds a bandwidth sample to the average. */
export function withBandwidth(
  state: StallState,
  sample: number,
  { ewmaAlpha }: StallDetection,
): StallState {
  const { bandwidth: old } = state;
  const bandwidth = old === 0 ? sample : ewmaAlpha * sample + (1 - ewmaAlpha) * old;
  return { ...state, bandwidth };
}

/**
 * Adds an iteration. The migration stalls when one does not leave clearly less than the best one before the window.
 * Then the detector waits for a minimum, with a target that is lowered as patience runs out.
 */
export function withIteration(
  state: StallState,
  record: IterationRecord,
  options: StallDetection,
): { readonly state: StallState; readonly stalled: boolean } {
  if (state.bandwidth === 0 || state.acted) return { state, stalled: false };
  const next = withCandidate(state, record, options.progressTimeout * 1000);
  if (next.search) {
    const search = relaxed(next.search, record, options.patienceDecay);
    return { state: { ...next, search }, stalled: true };
  }
  const { bestOutside } = next;
  if (!bestOutside) return { state: next, stalled: false };
  const enough = Math.trunc(bestOutside.remainingBytes * (1 - options.margin));
  if (record.remainingBytes < enough) return { state: next, stalled: false };
  const known = [bestOutside, ...next.candidates].map(({ remainingBytes }) => remainingBytes);
  const patienceMs = options.progressTimeout * 1000;
  const search: MinimumSearch = {
    bestBytes: Math.min(...known),
    history: [],
    patienceMs,
    deadlineMs: record.elapsedMs + patienceMs,
  };
  return { state: { ...next, search }, stalled: true };
}

function withCandidate(state: StallState, record: IterationRecord, windowMs: number): StallState {
  const isOld = ({ elapsedMs }: IterationRecord): boolean =>
    record.elapsedMs - elapsedMs >= windowMs;
  const firstInside = state.candidates.findIndex((candidate) => !isOld(candidate));
  const inside = firstInside < 0 ? [] : state.candidates.slice(firstInside);
  let { bestOutside } = state;
  for (const old of state.candidates.slice(0, state.candidates.length - inside.length)) {
    if (!bestOutside || old.remainingBytes < bestOutside.remainingBytes) bestOutside = old;
  }
  const last = inside.at(-1);
  // Neither can ever be the best: an older one is no larger, and stays so.
  const isUseless =
    (bestOutside && record.remainingBytes > bestOutside.remainingBytes) ||
    (last && record.remainingBytes >= last.remainingBytes);
  return { ...state, bestOutside, candidates: isUseless ? inside : [...inside, record] };
}

/** Far more than patience lasts for; a guest decides how many iterations there are. */
const maxHistory = 1024;

function relaxed(search: MinimumSearch, record: IterationRecord, decay: number): MinimumSearch {
  const sorted = [...search.history, record.remainingBytes].sort((one, other) => one - other);
  const history = sorted.slice(0, maxHistory);
  if (record.elapsedMs < search.deadlineMs) return { ...search, history };
  const [bestBytes = record.remainingBytes, ...rest] = history;
  const patienceMs = Math.trunc(search.patienceMs * decay);
  return { bestBytes, history: rest, patienceMs, deadlineMs: record.elapsedMs + patienceMs };
}

const largestUint32 = 2 ** 32 - 1;

/** How long the guest would be paused if it were stopped now, in ms; 0 while no bandwidth is known. */
export function estimatedDowntimeMs({ bandwidth }: StallState, remainingBytes: number): number {
  if (bandwidth === 0) return 0;
  return Math.min(Math.trunc(remainingBytes / (bandwidth / 1000)), largestUint32);
}
