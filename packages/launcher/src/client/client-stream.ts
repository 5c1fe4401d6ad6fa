import type { GuestEvent } from "@virtkit/domain-manager";
import { checkEvent } from "../channel/guest-checks.ts";
import { LauncherError } from "../launcher-error.ts";

/** Items that a launcher may send ahead of the reader. */
export const streamWindow = 64;

/** What a {@link ClientStream} needs of its connection. */
export interface StreamSource {
  /** Lets the launcher send so many more. */
  grant(count: number): void;
  /** Ends the stream; idempotent. */
  cancel(): void;
}

/** The reader's end of a guest's events. Iterate it once. */
export class ClientStream implements AsyncIterableIterator<GuestEvent> {
  readonly #source: StreamSource;
  readonly #items: GuestEvent[] = [];
  /** Items that were read but not yet credited. */
  #read = 0;
  /** Items that may still come. */
  #open = streamWindow;
  #end: { readonly error?: Error } | undefined;
  #reader: { resolve(): void } | undefined;

  constructor(source: StreamSource) {
    this.#source = source;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<GuestEvent>> {
    for (;;) {
      const value = this.#items.shift();
      if (value) {
        this.#consumed();
        return { done: false, value };
      }
      if (this.#end?.error) throw this.#end.error;
      if (this.#end) return { done: true, value: undefined };
      await new Promise<void>((resolve) => {
        this.#reader = { resolve };
      });
    }
  }

  async return(): Promise<IteratorResult<GuestEvent>> {
    this.#source.cancel();
    this.end();
    return { done: true, value: undefined };
  }

  /** Takes an item; throws if the launcher exceeds its credit. */
  take(item: unknown): void {
    if (this.#open === 0) {
      throw new LauncherError("LAUNCHER_PROTOCOL", "the launcher sent more events than allowed");
    }
    this.#open--;
    const event = checkEvent(item);
    if (event) this.#items.push(event);
    else this.#consumed();
    this.#wake();
  }

  /** Nothing more will come; pending items can still be read. */
  end(error?: Error): void {
    this.#end ??= error ? { error } : {};
    this.#wake();
  }

  #consumed(): void {
    this.#read++;
    if (this.#read < streamWindow / 2 || this.#end) return;
    this.#source.grant(this.#read);
    this.#open += this.#read;
    this.#read = 0;
  }

  #wake(): void {
    this.#reader?.resolve();
    this.#reader = undefined;
  }
}
