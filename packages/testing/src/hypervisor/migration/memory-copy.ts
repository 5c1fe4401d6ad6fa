/** How fast memory is sent, and how fast it is written to. Bytes per second. */
export interface CopyRates {
  readonly bandwidth: number;
  readonly dirty: number;
  /** Most bytes that the guest's writes differ in. */
  readonly workingSet: number;
  /** Slows the guest down while it writes faster than half of what is sent. */
  readonly autoConverge: boolean;
}

/** Where a copy stands. Bytes. */
export interface CopyFigures {
  readonly total: number;
  readonly transferred: number;
  readonly remaining: number;
  /** From 1; 0 before the first byte. */
  readonly iteration: number;
  readonly remainingAtStart: number;
  readonly throttlePercent: number;
  /** Written to since the iteration began. */
  readonly dirtied: number;
  /** Iterations in a row in which the guest wrote more than half of what was sent. */
  readonly losing: number;
}

/** A copy of which nothing was sent yet. */
export function newCopy(total: number): CopyFigures {
  const none = { transferred: 0, iteration: 0, throttlePercent: 0, dirtied: 0, losing: 0 };
  return { total, remaining: total, remainingAtStart: total, ...none };
}

/** As QEMU does: first by 20 per cent, then by 10 more each time. */
const [firstThrottle, nextThrottle, mostThrottle] = [20, 10, 99];

/**
 * Pre-copy for so many milliseconds: rounds that send what was written in the round before. Pure; a round that
 * ends within the time is followed by the next one.
 */
export function advanceCopy(before: CopyFigures, rates: CopyRates, ms: number): CopyFigures {
  let copy = before.iteration === 0 ? { ...before, iteration: 1 } : before;
  let left = ms;
  while (left > 0 && rates.bandwidth > 0 && copy.remaining > 0) {
    const needed = (copy.remaining / rates.bandwidth) * 1000;
    const step = Math.min(left, Math.max(needed, 0.001));
    copy = sendFor(copy, rates, step);
    left -= step;
    if (copy.remaining < 1) copy = nextIteration(copy, rates);
  }
  return copy;
}

/** Milliseconds for which the guest would be paused if it were stopped now. */
export function downtimeOf({ remaining, dirtied }: CopyFigures, bandwidth: number): number {
  return bandwidth > 0 ? ((remaining + dirtied) / bandwidth) * 1000 : Number.POSITIVE_INFINITY;
}

/** The guest is paused: the rest is sent, and nothing is written any more. */
export function drainCopy(copy: CopyFigures, bandwidth: number, ms: number): CopyFigures {
  const left = copy.remaining + copy.dirtied;
  const sent = Math.min(left, (bandwidth * ms) / 1000);
  return { ...copy, dirtied: 0, remaining: left - sent, transferred: copy.transferred + sent };
}

function sendFor(copy: CopyFigures, rates: CopyRates, ms: number): CopyFigures {
  const sent = Math.min(copy.remaining, (rates.bandwidth * ms) / 1000);
  const speed = rates.dirty * (1 - copy.throttlePercent / 100);
  const dirtied = Math.min(rates.workingSet, copy.dirtied + (speed * ms) / 1000);
  const remaining = copy.remaining - sent;
  return { ...copy, remaining, dirtied, transferred: copy.transferred + sent };
}

function nextIteration(copy: CopyFigures, { autoConverge }: CopyRates): CopyFigures {
  const isLosing = copy.dirtied > copy.remainingAtStart / 2;
  const losing = isLosing ? copy.losing + 1 : 0;
  const slows = autoConverge && losing >= 2;
  const next = copy.throttlePercent === 0 ? firstThrottle : copy.throttlePercent + nextThrottle;
  return {
    ...copy,
    iteration: copy.iteration + 1,
    remaining: copy.dirtied,
    remainingAtStart: copy.dirtied,
    dirtied: 0,
    losing: slows ? 0 : losing,
    throttlePercent: slows ? Math.min(mostThrottle, next) : copy.throttlePercent,
  };
}
