import type { Clock } from "@virtkit/api/clock";
import { KubeError } from "../client/kube-error.ts";
import type { Behaviour } from "./memory-client.ts";

/** How long a request takes, in milliseconds. */
export interface Latency {
  readonly there: number;
  readonly back: number;
  /** It never arrives. */
  readonly isCut?: boolean;
}

/**
 * A process that can be frozen, as by SIGSTOP: its clock continues, but none of its timers fires and no answer reaches it.
 * When it thaws, answers come first and timers afterwards, the order that is worst for whoever relies on timers.
 */
export class FrozenProcess implements Clock {
  readonly #clock: Clock;
  #late: (() => void)[] = [];
  #answers: (() => void)[] = [];
  isFrozen = false;
  readonly #cleared = new Set<unknown>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  setTimeout(callback: () => void, milliseconds: number): unknown {
    const timer: unknown = this.#clock.setTimeout(() => {
      const fire = (): void => {
        if (!this.#cleared.delete(timer)) callback();
      };
      if (this.isFrozen) this.#late.push(fire);
      else fire();
    }, milliseconds);
    return timer;
  }

  clearTimeout(timer: unknown): void {
    this.#clock.clearTimeout(timer);
    if (this.#late.length > 0) this.#cleared.add(timer);
  }

  /** Takes `latency` on the way to the server and back, or fails, and waits while the process is frozen. */
  network(latency: () => Latency): Behaviour {
    const wait = (milliseconds: number): Promise<void> =>
      new Promise((resolve) => {
        if (milliseconds === 0) resolve();
        else this.#clock.setTimeout(resolve, milliseconds);
      });
    return {
      // What was sent is on its way, whatever happens to the process.
      before: async () => {
        const { there, isCut } = latency();
        await wait(there);
        if (isCut) throw new KubeError("KUBE_CONNECTION", "cut");
      },
      after: async () => {
        await wait(latency().back);
        if (this.isFrozen) await new Promise<void>((resolve) => this.#answers.push(resolve));
      },
    };
  }

  freeze(): void {
    this.isFrozen = true;
  }

  async thaw(): Promise<void> {
    this.isFrozen = false;
    for (const answer of this.#answers.splice(0)) answer();
    for (const fire of this.#late.splice(0)) {
      // As in Node: what a callback resolves continues before the next callback.
      await new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
      fire();
    }
  }
}
