/**
 * Merges our own items into another's streams, in order of arrival. A pushed item reaches every
 * stream that is being read at that moment.
 */
export class EventBroadcast<T> {
  readonly #readers = new Set<(item: T) => void>();

  push(item: T): void {
    for (const read of this.#readers) read(item);
  }

  /**
   * A stream with everything that is pushed from now on. Ends with the stream, or with the signal.
   */
  async *join(stream: AsyncIterable<T>, signal?: AbortSignal): AsyncIterable<T> {
    const iterator = stream[Symbol.asyncIterator]();
    const pushed: T[] = [];
    let wake = (): void => {};
    const read = (item: T): void => {
      pushed.push(item);
      wake();
    };
    const onAbort = (): void => wake();
    this.#readers.add(read);
    signal?.addEventListener("abort", onAbort);
    try {
      let next = iterator.next();
      while (!signal?.aborted) {
        const woken = new Promise<"woken">((resolve) => {
          wake = () => resolve("woken");
        });
        yield* pushed.splice(0);
        const first = pushed.length > 0 ? "woken" : await Promise.race([next, woken]);
        if (first === "woken") continue;
        if (first.done) return;
        yield first.value;
        next = iterator.next();
      }
    } finally {
      this.#readers.delete(read);
      signal?.removeEventListener("abort", onAbort);
      // Not awaited: a generator that waits for its next item returns only after that.
      void Promise.resolve(iterator.return?.()).catch(() => {});
    }
  }
}
