/** How much memory a guest wrote during a sample, each page counted once. */
export interface DirtyMeasure {
  readonly seconds: number;
  readonly bytesPerSecond: number;
}

/** How much memory a guest writes over time. */
export interface DirtyCurve {
  /** How much it writes in one second. */
  readonly dirtyBytesPerSecond: number;
  /** How that grows with time, as an exponent. 1: always new pages. 0: the same pages again and again. */
  readonly dirtyGrowth: number;
}

/**
 * Fits a curve through samples of different lengths. QEMU samples 512 pages per GiB, so a single sample of a small
 * guest is off by megabytes; the mean of several is not. Without a longer sample the guest is assumed to write new
 * pages all the time, which is the worst case.
 */
export function dirtyCurve(measures: readonly DirtyMeasure[]): DirtyCurve {
  const shortest = Math.min(...measures.map(({ seconds }) => seconds));
  const short = meanOf(measures.filter(({ seconds }) => seconds === shortest));
  const long = meanOf(measures.filter(({ seconds }) => seconds !== shortest));
  if (!short) return { dirtyBytesPerSecond: 0, dirtyGrowth: 1 };
  if (!long) return { dirtyBytesPerSecond: short.bytesPerSecond, dirtyGrowth: 1 };
  const written = ({ seconds, bytesPerSecond }: DirtyMeasure): number => seconds * bytesPerSecond;
  // What was written in one second was also written in three: a longer sample that says less has seen other pages.
  const more = Math.max(written(long), written(short));
  const grown = written(short) > 0 ? more / written(short) : Number.POSITIVE_INFINITY;
  const growth = Math.log(grown) / Math.log(long.seconds / short.seconds);
  const dirtyGrowth = Math.min(1, Math.max(0, growth));
  const inASecond = written(short) > 0 ? short.bytesPerSecond : long.bytesPerSecond;
  return { dirtyBytesPerSecond: inASecond, dirtyGrowth };
}

function meanOf(measures: readonly DirtyMeasure[]): DirtyMeasure | undefined {
  if (measures.length === 0) return undefined;
  const sum = (pick: (each: DirtyMeasure) => number): number =>
    measures.reduce((total, each) => total + pick(each), 0);
  return {
    seconds: sum(({ seconds }) => seconds) / measures.length,
    bytesPerSecond: sum(({ bytesPerSecond }) => bytesPerSecond) / measures.length,
  };
}
