/** First in, first out, with removal from the middle; taking from the front never moves the rest. */
export class Lane<T extends object> {
  #slots: (T | undefined)[] = [];
  #head = 0;
  readonly #places = new Map<T, number>();

  get size(): number {
    return this.#places.size;
  }

  push(item: T): void {
    this.#places.set(item, this.#slots.length);
    this.#slots.push(item);
  }

  /** The first one; it stays. */
  peek(): T | undefined {
    while (this.#head < this.#slots.length) {
      const item = this.#slots[this.#head];
      if (item !== undefined) return item;
      this.#head++;
    }
    this.#slots = [];
    this.#head = 0;
    return undefined;
  }

  remove(item: T): void {
    const place = this.#places.get(item);
    if (place === undefined) return;
    this.#places.delete(item);
    this.#slots[place] = undefined;
    // What was taken is given back in large pieces, so that a lane that is never empty does not grow forever.
    if (this.#head > 1024 && this.#head * 2 > this.#slots.length) this.#compact();
  }

  #compact(): void {
    this.#slots = this.#slots.slice(this.#head).filter((slot) => slot !== undefined);
    this.#head = 0;
    for (const [place, item] of this.#slots.entries()) if (item) this.#places.set(item, place);
  }
}
