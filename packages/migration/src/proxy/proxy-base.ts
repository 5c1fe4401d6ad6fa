import { type Clock, realClock } from "@virtkit/api/clock";
import { describeError, type Observers } from "@virtkit/api/observe";
import { peerRefused } from "./peer-refused.ts";
import type { ProxyLimits } from "./proxy-limits.ts";
import { checkLimits, type ProxyOptions } from "./proxy-options.ts";
import { StreamTable } from "./stream-table.ts";
import { WaitingRoom } from "./waiting-room.ts";

/** The common interface of both proxies. */
export interface RunningProxy extends AsyncDisposable {
  /** The number of open streams. */
  readonly streams: number;
  /** Stops listening and ends every stream. */
  close(): Promise<void>;
}

/** What the proxies of both sides share: their streams, connections waiting to become one, and a common end. */
export class ProxyBase {
  readonly limits: ProxyLimits;
  readonly clock: Clock;
  readonly streams: StreamTable;
  readonly room: WaitingRoom;
  readonly #observers: Observers;
  readonly #closing = new AbortController();
  readonly #tasks: Set<Promise<void>> = new Set();
  readonly #signal: AbortSignal | undefined;
  readonly #abort = (): void => void this.close();
  readonly #closers: (() => Promise<unknown> | undefined)[] = [];
  #closed: Promise<void> | undefined;

  constructor({ limits, clock = realClock, log, metrics, signal }: ProxyOptions) {
    this.#signal = signal;
    this.limits = checkLimits(limits);
    this.clock = clock;
    this.#observers = { log, metrics };
    this.streams = new StreamTable(this.limits, clock, this.#observers);
    this.room = new WaitingRoom(this.limits, clock);
  }

  /** Fires when the proxy ends. */
  get ending(): AbortSignal {
    return this.#closing.signal;
  }

  /** Runs a task in the background; the end waits for it. A failure is logged and ends nothing else. */
  run(what: string, task: () => Promise<void>): void {
    const running = task().catch((error: unknown) => this.tell(what, error));
    this.#tasks.add(running);
    void running.then(() => this.#tasks.delete(running));
  }

  /** Logs a failure that ends nothing but itself. */
  tell(what: string, error: unknown): void {
    if (this.ending.aborted) return;
    this.#observers.log?.warn({ error: describeError(error) }, what);
    this.#observers.metrics?.count("migration_proxy_failures", { what });
  }

  /**
   * Gives a connection the time of a set-up. `expel` ends the connection and must make the task fail; its signal
   * fires at the same time, for everything else the task waits for.
   */
  async within(expel: () => void, task: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const late = new AbortController();
    const leave = this.room.enter((reason) => {
      late.abort(peerRefused("setup", `was given up, because ${reason}`));
      expel();
    });
    try {
      await task(late.signal);
    } catch (error) {
      throw late.signal.aborted ? late.signal.reason : error;
    } finally {
      leave();
    }
  }

  /** Starts a proxy, which ends with its signal. A failed start leaves nothing behind. */
  async begin(start: () => Promise<void>): Promise<void> {
    try {
      this.#signal?.throwIfAborted();
      this.#signal?.addEventListener("abort", this.#abort);
      await start();
      this.ending.throwIfAborted();
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** Adds something that ends first, such as a listener; what it returns is awaited last. */
  atEnd(close: () => Promise<unknown> | undefined): void {
    this.#closers.push(close);
  }

  /** Ends everything, and waits until it has ended. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#signal?.removeEventListener("abort", this.#abort);
    this.#closing.abort();
    const closing = this.#closers.map((close) => close());
    this.room.close();
    await this.streams.close();
    await Promise.all([...this.#tasks, ...closing]);
  }
}
