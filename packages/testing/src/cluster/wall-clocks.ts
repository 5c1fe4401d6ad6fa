/** The wall clocks of a cluster's parts: the cluster's own time, and by how much each part is off. */
export class WallClocks {
  readonly #date: () => Date;
  readonly #off = new Map<string, number>();

  constructor(date: () => Date) {
    this.#date = date;
  }

  /** Moves a part's date by this many milliseconds, forwards or back. Time passes as before: only the date jumps. */
  jump(part: string, milliseconds: number): void {
    this.#off.set(part, this.off(part) + milliseconds);
  }

  /** By how many milliseconds a part's date is off. */
  off(part: string): number {
    return this.#off.get(part) ?? 0;
  }

  /** Sets all dates right. */
  set(): void {
    this.#off.clear();
  }

  /** The date as a part has it. */
  of(part: string): Date {
    return new Date(this.#date().getTime() + this.off(part));
  }
}
