import type { GuestEvent } from "@virtkit/domain-manager";

/** What subscribers of a guest's events get. */
export class GuestFeed {
  readonly #subscribers = new Set<Subscriber>();

  /** Begins with one event, followed by all later ones; ends with the signal. */
  subscribe(first: GuestEvent, signal?: AbortSignal): AsyncIterableIterator<GuestEvent> {
    const subscriber = new Subscriber(first, () => {
      this.#subscribers.delete(subscriber);
      signal?.removeEventListener("abort", subscriber.end);
    });
    this.#subscribers.add(subscriber);
    if (signal?.aborted) subscriber.end();
    else signal?.addEventListener("abort", subscriber.end);
    return subscriber;
  }

  tell(event: GuestEvent): void {
    for (const subscriber of this.#subscribers) subscriber.push(event);
  }

  end(): void {
    for (const subscriber of this.#subscribers) subscriber.end();
  }
}

class Subscriber implements AsyncIterableIterator<GuestEvent> {
  readonly #events: GuestEvent[];
  readonly #onEnd: () => void;
  #readers: ((result: IteratorResult<GuestEvent>) => void)[] = [];
  #ended = false;

  constructor(first: GuestEvent, onEnd: () => void) {
    this.#events = [first];
    this.#onEnd = onEnd;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<GuestEvent>> {
    const value = this.#events.shift();
    if (value) return { done: false, value };
    if (this.#ended) return { done: true, value: undefined };
    return await new Promise((resolve) => this.#readers.push(resolve));
  }

  async return(): Promise<IteratorResult<GuestEvent>> {
    this.end();
    return { done: true, value: undefined };
  }

  push(event: GuestEvent): void {
    const reader = this.#readers.shift();
    if (reader) reader({ done: false, value: event });
    else this.#events.push(event);
  }

  readonly end = (): void => {
    if (this.#ended) return;
    this.#ended = true;
    this.#events.length = 0;
    for (const reader of this.#readers) reader({ done: true, value: undefined });
    this.#readers = [];
    this.#onEnd();
  };
}
