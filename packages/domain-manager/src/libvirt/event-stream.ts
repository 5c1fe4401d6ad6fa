import type { LibvirtError } from "./libvirt-error.ts";
import type { DomainEvent, EventType } from "./protocol/events.ts";

/** What an {@link EventStream} yields. */
export type EventItem<Type extends EventType = EventType> =
  | DomainEvent<Type>
  /** This many events were lost because they were not read in time: look at the domains again. */
  | { readonly type: "dropped"; readonly count: number }
  /**
   * The connection was lost and is back, and events are registered again. What happened in between
   * is unknown: look at the domains again.
   */
  | { readonly type: "resync" };

/**
 * Events of domains, in the order in which the daemon sent them.
 *
 * Iterate it once. It ends when it is closed, and throws when the connection is lost for good. If
 * the reader is slower than the daemon, the oldest events are dropped and an item says how many.
 */
export class EventStream<Type extends EventType = EventType>
  implements AsyncIterableIterator<EventItem<Type>>, AsyncDisposable
{
  readonly #limit: number;
  readonly #onClose: () => Promise<void>;
  #items: EventItem<Type>[] = [];
  #dropped = 0;
  #ended = false;
  #error: LibvirtError | undefined;
  #readers: {
    resolve: (result: IteratorResult<EventItem<Type>>) => void;
    reject: (error: LibvirtError) => void;
  }[] = [];

  /** For the connection that feeds it. */
  constructor(limit: number, onClose: () => Promise<void>) {
    this.#limit = limit;
    this.#onClose = onClose;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<EventItem<Type>>> {
    if (this.#dropped > 0) {
      const count = this.#dropped;
      this.#dropped = 0;
      return { done: false, value: { type: "dropped", count } };
    }
    const value = this.#items.shift();
    if (value) return { done: false, value };
    if (this.#error) throw this.#error;
    if (this.#ended) return { done: true, value: undefined };
    return await new Promise((resolve, reject) => this.#readers.push({ resolve, reject }));
  }

  /** Ends the stream, as `break` out of a loop does, and removes its registrations. */
  async return(): Promise<IteratorResult<EventItem<Type>>> {
    if (!this.#ended) {
      this.end();
      await this.#onClose();
    }
    return { done: true, value: undefined };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  /** Adds an item. */
  push(item: EventItem<Type>): void {
    if (this.#ended) return;
    const reader = this.#readers.shift();
    if (reader) {
      reader.resolve({ done: false, value: item });
      return;
    }
    this.#items.push(item);
    if (this.#items.length <= this.#limit) return;
    this.#items.shift();
    this.#dropped++;
  }

  /** No more items will come; pending ones can still be read. An error comes last. */
  end(error?: LibvirtError): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error;
    for (const { resolve, reject } of this.#readers) {
      if (error) reject(error);
      else resolve({ done: true, value: undefined });
    }
    this.#readers = [];
  }
}
