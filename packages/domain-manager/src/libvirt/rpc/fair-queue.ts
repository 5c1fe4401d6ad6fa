/**
 * A queue in which every key gets its turn: a key with a thousand items delays another key's next item by
 * one item, not by a thousand. Items of one key keep their order.
 */
export class FairQueue<T> {
  readonly #lanes = new Map<string, Set<T>>();
  #size = 0;

  /** How many items wait. */
  get size(): number {
    return this.#size;
  }

  /** Adds an item, which must not be in the queue yet. */
  add(key: string, item: T): void {
    const lane = this.#lanes.get(key);
    if (lane) lane.add(item);
    else this.#lanes.set(key, new Set([item]));
    this.#size++;
  }

  /** Removes an item that nobody wants any more; does nothing if it is not in the queue. */
  remove(key: string, item: T): void {
    const lane = this.#lanes.get(key);
    if (!lane?.delete(item)) return;
    this.#size--;
    if (lane.size === 0) this.#lanes.delete(key);
  }

  /** Takes the next item, from the key whose turn it is. */
  take(): T | undefined {
    for (const [key, lane] of this.#lanes) {
      for (const item of lane) {
        lane.delete(item);
        this.#size--;
        // Behind all others; a Map keeps the order in which keys were set.
        this.#lanes.delete(key);
        if (lane.size > 0) this.#lanes.set(key, lane);
        return item;
      }
    }
    return undefined;
  }
}
