/** Nanoseconds that the vCPUs of each copy of a guest have run so far, by the copy. */
export type VcpuTimes = ReadonlyMap<string, number>;

/**
 * Less than this between two samples is a thread that was woken, and not a running guest: ours counts twenty times a
 * second, which takes an emulated CPU several times as long.
 */
const noise = 5_000_000;

/**
 * Which copies of a guest ran between samples. Between two samples, a guest may pass from one copy to the next. But a
 * copy that runs after another one has run is a second guest, or an old one that was resumed.
 */
export class RunHistory {
  /** In the order in which they began to run. */
  readonly #began: string[] = [];
  readonly #faults: string[] = [];
  #before: VcpuTimes = new Map();

  /** How many copies have run. */
  get runners(): number {
    return this.#began.length;
  }

  /** Everything that a single running copy cannot have done. */
  get faults(): readonly string[] {
    return this.#faults;
  }

  look(now: VcpuTimes): void {
    const ran = [...now].flatMap(([copy, time]) => {
      const before = this.#before.get(copy);
      // A new copy may have begun at any time since the last sample.
      return before !== undefined && time - before > noise ? [copy] : [];
    });
    for (const copy of ran) {
      const place = this.#began.indexOf(copy);
      const later = place < 0 ? undefined : this.#began[place + 1];
      if (later !== undefined) this.#faults.push(`${copy} ran after ${later} had run`);
    }
    for (const copy of ran) if (!this.#began.includes(copy)) this.#began.push(copy);
    this.#before = now;
  }
}
