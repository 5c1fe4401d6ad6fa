import { type Clock, every } from "@virtkit/api/clock";
import type { Observers } from "@virtkit/api/observe";
import type { Joint } from "./join-ends.ts";
import type { ProxyLimits } from "./proxy-limits.ts";

/** What is remembered about a stream between two checks. */
interface Watched {
  readonly channel: string;
  readonly joint: Joint;
  moved: number;
  since: number;
}

/** Checks per limit: a stream is ended at most a quarter late. */
const looks = 4;

/** The streams of a proxy: no more than the limit, and none that stalls for too long. */
export class StreamTable {
  readonly #streams: Set<Watched> = new Set();
  readonly #limits: ProxyLimits;
  readonly #clock: Clock;
  readonly #observers: Observers;
  readonly #stop: () => void;

  constructor(limits: ProxyLimits, clock: Clock, observers: Observers) {
    this.#limits = limits;
    this.#clock = clock;
    this.#observers = observers;
    const interval = Math.min(limits.stall, limits.idle) / looks;
    this.#stop = every(clock, interval, () => this.#look());
  }

  get size(): number {
    return this.#streams.size;
  }

  get isFull(): boolean {
    return this.size >= this.#limits.streams;
  }

  /** Takes a stream in, until both of its ends are closed. */
  add(channel: string, joint: Joint): void {
    const watched = { channel, joint, moved: 0, since: this.#clock.now() };
    this.#streams.add(watched);
    this.#observers.metrics?.count("migration_proxy_streams", { channel, outcome: "joined" });
    void joint.closed.then(() => this.#streams.delete(watched));
  }

  /** Ends all of them. */
  async close(): Promise<void> {
    this.#stop();
    const all = [...this.#streams].map(({ joint }) => joint);
    for (const joint of all) joint.destroy();
    await Promise.all(all.map(({ closed }) => closed));
  }

  #look(): void {
    const now = this.#clock.now();
    for (const stream of this.#streams) {
      const { channel, joint } = stream;
      if (joint.moved !== stream.moved) {
        stream.moved = joint.moved;
        stream.since = now;
        continue;
      }
      const limit = joint.waits ? this.#limits.stall : this.#limits.idle;
      if (now - stream.since < limit) continue;
      const { log, metrics } = this.#observers;
      log?.warn({ channel, milliseconds: now - stream.since }, "a stream made no progress");
      metrics?.count("migration_proxy_streams", { channel, outcome: "stalled" });
      joint.destroy();
    }
  }
}
