import type { Duplex } from "node:stream";
import { type Clock, realClock, until } from "@virtkit/api/clock";
import { DomainManagerError } from "../domain-manager-error.ts";
import type { GuestDialer } from "./dial-unix-socket.ts";

/** How {@link GuestSocket} reaches its guest. */
export interface GuestSocketOptions {
  /** What it is, for messages: `console`, `screen`. */
  readonly what: string;
  readonly dial: GuestDialer;
  /** Milliseconds to connect. Default 5 s. */
  readonly dialTimeout?: number;
  readonly clock?: Clock;
}

/** How {@link GuestSocket.open} opens. */
export interface OpenOptions {
  /** Refuses while another client is connected, instead of replacing it. */
  readonly preserveSession?: boolean;
  /** Ends the attempt to connect, not the stream. */
  readonly signal?: AbortSignal;
}

/** Milliseconds until the next try while earlier clients are still in QEMU's short queue. */
const queueFull = 50;

/**
 * The serial console or the screen of a guest: a socket of QEMU that has one client at a time. The newest
 * client wins.
 *
 * A stream holds no more than Node's own buffers: while its reader is slow nothing is read from the guest,
 * and QEMU waits or drops, as its device does; a writer that heeds `write` returning false does not fill
 * memory either. Use `pipeline` of `node:stream`.
 *
 * @example
 * ```ts
 * const serial = new GuestSocket({ what: "console", dial: dialUnixSocket(path) });
 * await pipeline(client, await serial.open(), client);
 * ```
 */
export class GuestSocket {
  readonly #options: GuestSocketOptions;
  readonly #clock: Clock;
  /** The stream of the client that is there. */
  #current: Duplex | undefined;
  /** Attempts to connect that are in progress; the last one wins. */
  #attempts = new Set<object>();

  constructor(options: GuestSocketOptions) {
    this.#options = options;
    this.#clock = options.clock ?? realClock;
  }

  /** Whether a client is there. */
  get busy(): boolean {
    return this.#current !== undefined || this.#attempts.size > 0;
  }

  /**
   * Connects a client. The present one gets an error with the code `DOMAIN_STREAM_TAKEN` on its
   * stream, but only once the new connection is established. The stream ends when the guest does;
   * it is up to the caller to connect again.
   *
   * Rejects with a `DomainManagerError`: `DOMAIN_STREAM_BUSY` if `preserveSession` finds a client,
   * `DOMAIN_STREAM_LOST` if nobody answers, `DOMAIN_STREAM_TAKEN` if a still newer client came
   * first.
   */
  async open({ preserveSession = false, signal }: OpenOptions = {}): Promise<Duplex> {
    const { what } = this.#options;
    if (preserveSession && this.busy) {
      throw streamError("DOMAIN_STREAM_BUSY", what, "another client has it; try again later");
    }
    const attempt = {};
    this.#attempts.add(attempt);
    try {
      const stream = await this.#dial(signal);
      if ([...this.#attempts].at(-1) !== attempt) {
        stream.destroy();
        throw this.#taken();
      }
      this.#adopt(stream);
      return stream;
    } finally {
      this.#attempts.delete(attempt);
    }
  }

  /** Ends the stream of the present client. Others may come. */
  disconnect(reason: string): void {
    const { what } = this.#options;
    this.#current?.destroy(streamError("DOMAIN_STREAM_LOST", what, reason));
    this.#current = undefined;
  }

  #adopt(stream: Duplex): void {
    const old = this.#current;
    this.#current = stream;
    old?.destroy(this.#taken());
    // The reason stays on the stream; a client that does not listen yet must not end the process.
    stream.on("error", () => {});
    stream.once("close", () => {
      if (this.#current === stream) this.#current = undefined;
    });
  }

  async #dial(signal: AbortSignal | undefined): Promise<Duplex> {
    const { what, dial, dialTimeout = 5_000 } = this.#options;
    const late = new AbortController();
    const timer = this.#clock.setTimeout(() => late.abort(timedOut), dialTimeout);
    const either = AbortSignal.any(signal ? [signal, late.signal] : [late.signal]);
    try {
      const attempt = async (): Promise<Duplex | undefined> => {
        try {
          return await dial(either);
        } catch (error) {
          if (either.aborted || !isQueueFull(error)) throw error;
          return undefined;
        }
      };
      const patience = { clock: this.#clock, interval: queueFull, signal: either };
      const stream = await until(attempt, patience);
      if (stream) return stream;
      throw timedOut;
    } catch (error) {
      const why = late.signal.aborted ? `nobody answered within ${dialTimeout} ms` : String(error);
      throw streamError("DOMAIN_STREAM_LOST", what, `${why}; check whether the guest runs`, error);
    } finally {
      this.#clock.clearTimeout(timer);
    }
  }

  #taken(): DomainManagerError {
    return streamError("DOMAIN_STREAM_TAKEN", this.#options.what, "a newer client has taken it");
  }
}

const timedOut = new Error("no connection in time");

function isQueueFull(error: unknown): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === "EAGAIN";
}

function streamError(
  code: "DOMAIN_STREAM_TAKEN" | "DOMAIN_STREAM_BUSY" | "DOMAIN_STREAM_LOST",
  what: string,
  message: string,
  cause?: unknown,
): DomainManagerError {
  return new DomainManagerError(code, `${what}: ${message}`, { path: what, cause });
}
