import type { DomainStatus } from "../status/domain-status.ts";
import type { GuestEvent } from "../status/guest-event.ts";

/** Events that are kept for one who does not keep up; then there is a gap, and the status. */
const limit = 256;

/** Hands what happens to a guest to all who listen. */
export class GuestFeed {
  readonly #subscribers = new Set<Subscriber>();
  readonly #status: () => Promise<DomainStatus>;
  readonly #wallTime: () => number;

  constructor(status: () => Promise<DomainStatus>, wallTime: () => number = Date.now) {
    this.#status = status;
    this.#wallTime = wallTime;
  }

  /** Tells everybody. */
  publish(event: EventContent): void {
    const dated = { at: this.#now(), ...event } as GuestEvent;
    for (const subscriber of this.#subscribers) subscriber.push(dated);
  }

  /** What happens from now on, the status first. Ends with the signal, or when its reader leaves it. */
  async *subscribe({ signal }: { readonly signal?: AbortSignal } = {}): AsyncGenerator<GuestEvent> {
    const subscriber = new Subscriber();
    const end = (): void => subscriber.end();
    signal?.addEventListener("abort", end, { once: true });
    this.#subscribers.add(subscriber);
    try {
      if (signal?.aborted) return;
      yield await this.#currentStatus();
      for (;;) {
        const item = await subscriber.next();
        if (item === "end") return;
        if (item === "gap") {
          yield { at: this.#now(), kind: "resync" };
          yield await this.#currentStatus();
        } else {
          yield item;
        }
      }
    } finally {
      this.#subscribers.delete(subscriber);
      signal?.removeEventListener("abort", end);
    }
  }

  /** Ends all that listen. */
  end(): void {
    for (const subscriber of this.#subscribers) subscriber.end();
  }

  async #currentStatus(): Promise<GuestEvent> {
    return { at: this.#now(), kind: "status", status: await this.#status() };
  }

  #now(): string {
    return new Date(this.#wallTime()).toISOString();
  }
}

/** An event without its time. */
export type EventContent = GuestEvent extends infer Event
  ? Event extends GuestEvent
    ? Omit<Event, "at">
    : never
  : never;

class Subscriber {
  #items: (GuestEvent | "gap")[] = [];
  #ended = false;
  #wake: (() => void) | undefined;

  push(event: GuestEvent): void {
    if (this.#items.length >= limit) this.#items = ["gap"];
    else if (this.#items[0] !== "gap") this.#items.push(event);
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  async next(): Promise<GuestEvent | "gap" | "end"> {
    for (;;) {
      const item = this.#items.shift();
      if (item !== undefined) return item;
      if (this.#ended) return "end";
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
