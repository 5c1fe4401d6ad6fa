/** When host devices may be plugged in again. Milliseconds. */
export interface BackOff {
  readonly until: number;
  readonly wait: number;
  /** No attempt is made after this. */
  readonly end: number;
}

const [firstWait, factor, longestWait, limit] = [3_000, 1.8, 600_000, 5 * 3_600_000];

/** Whether to try now, and what to remember then: at once, then after 3 s, 5.4 s and so on, for five hours. */
export function backOff(
  before: BackOff | undefined,
  now: number,
): { readonly isDue: boolean; readonly next: BackOff } {
  if (!before) {
    return { isDue: true, next: { until: now + firstWait, wait: firstWait, end: now + limit } };
  }
  if (now <= before.until || now >= before.end) return { isDue: false, next: before };
  const wait = Math.min(before.wait * factor, longestWait);
  return { isDue: true, next: { ...before, until: now + wait, wait } };
}
