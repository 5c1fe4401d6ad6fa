import type { Clock } from "@virtkit/api/clock";
import type { ProxyLimits } from "./proxy-limits.ts";

/** Ends the stay normally, because the awaited event has happened. */
export type Leave = () => void;

/**
 * Connections that have not shown yet what they are for. Each has limited time. If there are too many, the oldest
 * has to go. Silent connections therefore block nobody, because an honest one is done in a moment.
 */
export class WaitingRoom {
  readonly #limits: ProxyLimits;
  readonly #clock: Clock;
  /** In the order in which they came. */
  readonly #waiting: Set<(reason: string) => void> = new Set();

  constructor(limits: ProxyLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** Admits a connection. `expel` is called when its time is over, when there are too many, or at the end. */
  enter(expel: (reason: string) => void): Leave {
    const leave = (): void => {
      this.#clock.clearTimeout(timer);
      this.#waiting.delete(go);
    };
    const go = (reason: string): void => {
      leave();
      expel(reason);
    };
    const timer = this.#clock.setTimeout(() => go("it took too long"), this.#limits.setup);
    this.#waiting.add(go);
    const [oldest] = this.#waiting;
    if (this.size > this.#limits.waiting) oldest?.("others came");
    return leave;
  }

  /** Sends all away. */
  close(): void {
    for (const go of [...this.#waiting]) go("the proxy ended");
  }
}
