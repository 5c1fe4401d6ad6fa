import type { Clock } from "@virtkit/api/clock";
import {
  describeError,
  type Log,
  type Metrics,
  noMetrics,
  type Observers,
  silentLog,
} from "@virtkit/api/observe";
import type { GuestAgent } from "../agent/guest-agent.ts";
import type { CallOptions } from "../libvirt/rpc/pending-call.ts";

/** Milliseconds between two attempts to thaw a guest whose time is up, and how many there are. */
const retryDelay = 5_000;
const retries = 12;

/**
 * Freezes and thaws a guest's file systems, and makes sure that an abandoned guest does not stay
 * frozen.
 */
export class FreezeGuard {
  readonly #clock: Clock;
  /** Thaws in its turn among the guest's verbs. */
  readonly #thawLater: () => Promise<void>;
  readonly #log: Log;
  readonly #metrics: Metrics;
  #timer: unknown;

  constructor(
    clock: Clock,
    thawLater: () => Promise<void>,
    { log = silentLog, metrics = noMetrics }: Observers = {},
  ) {
    this.#log = log;
    this.#metrics = metrics;
    this.#clock = clock;
    this.#thawLater = thawLater;
  }

  /**
   * Freezes the guest, or keeps it frozen; the time until it is thawed automatically starts again.
   * 0 is never.
   */
  async freeze(
    agent: Pick<GuestAgent, "fsFreezeStatus" | "freeze">,
    unfreezeAfterSeconds: number,
    options: CallOptions,
  ): Promise<void> {
    const status = await agent.fsFreezeStatus(options);
    this.cancel();
    // Before it is asked: a guest may freeze although its answer does not arrive.
    if (unfreezeAfterSeconds > 0) this.#arm(unfreezeAfterSeconds * 1000, retries);
    if (status !== "frozen") await agent.freeze(options);
  }

  /** A guest that is not frozen is left alone, so that its hooks do not run again. */
  async unfreeze(
    agent: Pick<GuestAgent, "fsFreezeStatus" | "thaw">,
    options: CallOptions,
  ): Promise<void> {
    // Thawing a guest with unknown state does no harm, and shows why if it fails.
    const status = await agent.fsFreezeStatus(options).catch(() => "unknown");
    if (status !== "thawed") await agent.thaw(options);
    this.cancel();
  }

  /** Leaves the guest as it is: someone else will thaw it, or it has ended. */
  cancel(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #arm(delay: number, left: number): void {
    // A timer is limited to about 24 days.
    this.#timer = this.#clock.setTimeout(
      () => {
        this.#thawLater().catch((error: unknown) => {
          this.#log.warn(
            { error: describeError(error), left },
            "the guest is still frozen after its timeout",
          );
          this.#metrics.count("guest_thaw_failures");
          if (left > 0) this.#arm(retryDelay, left - 1);
        });
      },
      Math.min(delay, 0x7fffffff),
    );
  }
}
