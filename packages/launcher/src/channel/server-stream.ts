import type { GuestControl, GuestEvent } from "@virtkit/domain-manager";
import { EventQueue } from "./event-queue.ts";
import { type Failure, failureOf } from "./failure.ts";

/** What a {@link ServerStream} needs of its connection. */
export interface StreamSink {
  /** Whether the other side takes what was written before. */
  readonly writable: boolean;
  send(event: GuestEvent): void;
}

/**
 * One client's events: sent as far as the client's credit allows, and buffered up to a limit beyond
 * that.
 */
export class ServerStream {
  readonly #queue: EventQueue;
  readonly #sink: StreamSink;
  #credit: number;

  constructor(sink: StreamSink, credit: number, limit: number) {
    this.#sink = sink;
    this.#credit = credit;
    this.#queue = new EventQueue(limit);
  }

  /** Reads the guest's events until the signal ends it, or they end; returns the outcome. */
  async run(control: GuestControl, signal: AbortSignal): Promise<{ success: true } | Failure> {
    try {
      for await (const event of control.events({ signal })) {
        if (signal.aborted) break;
        this.#queue.add(event);
        this.flush();
      }
      return { success: true };
    } catch (error) {
      return signal.aborted ? { success: true } : failureOf(error);
    }
  }

  /** Allows this many more. */
  grant(count: number): void {
    this.#credit = Math.min(this.#credit + count, 1_000_000);
    this.flush();
  }

  /** Sends what may be sent now; to be called when the connection is writable again. */
  flush(): void {
    while (this.#credit > 0 && this.#queue.size > 0 && this.#sink.writable) {
      const event = this.#queue.take();
      if (!event) return;
      this.#credit--;
      this.#sink.send(event);
    }
  }
}
