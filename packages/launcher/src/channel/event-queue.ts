import type { GuestEvent } from "@virtkit/domain-manager";

/**
 * Events that a slow reader has not read yet. If too many wait, all of them are dropped: the reader gets a
 * resync and the newest status.
 */
export class EventQueue {
  readonly #limit: number;
  #items: GuestEvent[] = [];
  #status: GuestEvent | undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#items.length;
  }

  add(event: GuestEvent): void {
    if (event.kind === "status") this.#status = event;
    if (this.#items.length < this.#limit) {
      this.#items.push(event);
      return;
    }
    const resync: GuestEvent = { at: event.at, kind: "resync" };
    this.#items = this.#status ? [resync, this.#status] : [resync];
  }

  take(): GuestEvent | undefined {
    return this.#items.shift();
  }
}
