import type { GuestEvent } from "./guest-event.ts";

/** How {@link GuestEventQueue} is made. */
export interface GuestEventQueueOptions {
  /** Events that are kept for a slow reader. */
  readonly limit: number;
  /** The whole status, as an event of now. */
  readonly current: () => GuestEvent;
  readonly now: () => string;
  readonly onEnd: (queue: GuestEventQueue) => void;
}

/**
 * The events of one subscriber: first the whole status, then events. A reader that is too slow
 * loses everything that it has not read, and gets `resync` and the whole status instead.
 */
export class GuestEventQueue implements AsyncIterableIterator<GuestEvent> {
  readonly #options: GuestEventQueueOptions;
  #events: GuestEvent[];
  #behind = false;
  #ended = false;
  #error: unknown;
  #readers: {
    resolve: (result: IteratorResult<GuestEvent>) => void;
    reject: (error: unknown) => void;
  }[] = [];

  constructor(options: GuestEventQueueOptions) {
    this.#options = options;
    this.#events = [options.current()];
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<GuestEvent>> {
    if (this.#behind) {
      this.#behind = false;
      this.#events = [this.#options.current()];
      return { done: false, value: { kind: "resync", at: this.#options.now() } };
    }
    const value = this.#events.shift();
    if (value) return { done: false, value };
    if (this.#error !== undefined) throw this.#error;
    if (this.#ended) return { done: true, value: undefined };
    return await new Promise((resolve, reject) => this.#readers.push({ resolve, reject }));
  }

  async return(): Promise<IteratorResult<GuestEvent>> {
    this.#events = [];
    this.#behind = false;
    this.end();
    return { done: true, value: undefined };
  }

  push(event: GuestEvent): void {
    if (this.#ended || this.#behind) return;
    const reader = this.#readers.shift();
    if (reader) {
      reader.resolve({ done: false, value: event });
      return;
    }
    this.#events.push(event);
    if (this.#events.length <= this.#options.limit) return;
    this.#events = [];
    this.#behind = true;
  }

  /** No more events; pending ones can still be read. An error comes last. */
  end(error?: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error;
    for (const { resolve, reject } of this.#readers) {
      if (error === undefined) resolve({ done: true, value: undefined });
      else reject(error);
    }
    this.#readers = [];
    this.#options.onEnd(this);
  }
}
