import type { Count, WrittenCount } from "./guest-counter.ts";

/**
 * The counts of a guest as they were observed, in order, whichever copy they came from. It knows what one guest cannot do:
 * two running copies, or a copy that runs again after another one, produce the same count twice.
 */
export class CounterHistory {
  /** The counts on the disk, as they were first seen. */
  readonly #written = new Map<number, WrittenCount>();
  /** The counts that a guest acknowledged as written. */
  readonly #acknowledged = new Map<number, WrittenCount>();
  readonly #boots: string[] = [];
  readonly #faults: string[] = [];
  #last: Count | undefined;

  /** The highest count that was seen on the disk; -1 if there is none. */
  get highest(): number {
    return Math.max(-1, ...this.#written.keys());
  }

  /** How many counts the guest has acknowledged. */
  get acknowledged(): number {
    return this.#acknowledged.size;
  }

  /** Records what the guest has just reported. */
  noteSaid(count: Count): void {
    const { boot, beat, disk, at } = count;
    const last = this.#last;
    if (last?.boot !== boot && this.#boots.includes(boot)) {
      this.#faults.push(`boot ${boot} still counts after boot ${last?.boot} has begun`);
    } else if (last?.boot === boot && (beat < last.beat || disk < last.disk)) {
      const [before, now] = [last, count].map((each) => `beat ${each.beat}, disk ${each.disk}`);
      this.#faults.push(`the guest went back from ${before} to ${now}`);
    }
    if (!this.#boots.includes(boot)) this.#boots.push(boot);
    this.#last = count;
    const known = this.#acknowledged.get(disk);
    const said = { boot, at };
    if (known && !isSame(known, said)) this.#twice(disk, known, said);
    if (!known) this.#acknowledged.set(disk, said);
  }

  /** Records the counts that are on the disk now. */
  noteDisk(counts: ReadonlyMap<number, WrittenCount>): void {
    for (const [count, now] of counts) {
      const before = this.#written.get(count);
      if (before && !isSame(before, now)) this.#twice(count, before, now);
      if (!before) this.#written.set(count, now);
    }
  }

  /** Everything that no single guest can have done, given the counts that are on the disk now. */
  faults(disk: ReadonlyMap<number, WrittenCount>): readonly string[] {
    this.noteDisk(disk);
    const found = [...this.#faults];
    for (const [count, said] of this.#acknowledged) {
      const now = disk.get(count);
      if (!now || !isSame(now, said)) {
        found.push(`count ${count} was acknowledged (${show(said)}); the disk has ${show(now)}`);
      }
    }
    for (let count = 0; count <= this.highest; count++) {
      if (!disk.has(count)) found.push(`count ${count} is missing on the disk`);
    }
    return [...found, ...disorder(disk)];
  }

  #twice(count: number, before: WrittenCount, now: WrittenCount): void {
    this.#faults.push(`count ${count} was written twice: ${show(before)} and ${show(now)}`);
  }
}

/** Boots follow one another, and each has its own uptime. */
function disorder(disk: ReadonlyMap<number, WrittenCount>): readonly string[] {
  const found: string[] = [];
  const over = new Set<string>();
  let last: WrittenCount | undefined;
  for (const [count, now] of [...disk].sort(([a], [b]) => a - b)) {
    if (last && last.boot !== now.boot) over.add(last.boot);
    if (over.has(now.boot))
      found.push(`count ${count} belongs to boot ${now.boot}, which was over`);
    if (last?.boot === now.boot && Number(now.at) < Number(last.at)) {
      found.push(`count ${count} is older than the one before it: ${now.at} and ${last.at}`);
    }
    last = now;
  }
  return found;
}

function isSame(a: WrittenCount, b: WrittenCount): boolean {
  return a.boot === b.boot && a.at === b.at;
}

function show(count: WrittenCount | undefined): string {
  return count ? `boot ${count.boot} at ${count.at} s` : "nothing there";
}
