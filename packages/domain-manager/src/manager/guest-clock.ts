import { type Clock, sleep, wallTime } from "@virtkit/api/clock";
import { describeError, type Log, silentLog } from "@virtkit/api/observe";
import type { GuestAgent } from "../agent/guest-agent.ts";
import { isLibvirtError } from "../libvirt/libvirt-error.ts";

const interval = 1_000;
const attempts = 60;

/** Answers of libvirt after which asking again is useless. */
const hopeless = ["operationUnsupported", "argumentUnsupported", "noDomain", "operationInvalid"];

/**
 * Sets the clock of a guest after a pause: tries for a minute, because the agent may take a while
 * to answer. Nobody waits for it, and nothing depends on it: a guest without an agent has NTP, or
 * stays behind.
 */
export class GuestClock {
  readonly #clock: Clock;
  readonly #wallTime: () => number;
  readonly #log: Log;
  #running: AbortController | undefined;

  constructor(clock: Clock, now: () => number = () => wallTime().getTime(), log: Log = silentLog) {
    this.#log = log;
    this.#clock = clock;
    this.#wallTime = now;
  }

  /** Begins; ends an earlier attempt. */
  set(agent: Pick<GuestAgent, "setTime">): void {
    this.stop();
    const controller = new AbortController();
    this.#running = controller;
    void this.#try(agent, controller.signal);
  }

  stop(): void {
    this.#running?.abort();
    this.#running = undefined;
  }

  async #try(agent: Pick<GuestAgent, "setTime">, signal: AbortSignal): Promise<void> {
    for (let attempt = 0; attempt < attempts && !signal.aborted; attempt++) {
      try {
        await agent.setTime(this.#wallTime(), { signal });
        return;
      } catch (error) {
        this.#log.debug({ error: describeError(error), attempt }, "the guest's clock was not set");
        const cause = error instanceof Error ? error.cause : undefined;
        if (hopeless.some((code) => isLibvirtError(cause, code))) return;
      }
      await sleep(this.#clock, interval, signal);
    }
  }
}
