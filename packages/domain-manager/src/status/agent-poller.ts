import { type Clock, realClock, sleep } from "@virtkit/api/clock";
import {
  describeError,
  type Log,
  type Metrics,
  noMetrics,
  type Observers,
  silentLog,
} from "@virtkit/api/observe";

/** A recurring question to the guest's agent. */
export interface Poll {
  /** Milliseconds between two questions, once the guest has settled. */
  readonly interval: number;
  /** Asks, and passes on the answer. Rejects if the agent does not answer. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** Milliseconds: a guest that has just started changes more often. */
const firstDelay = 10_000;
/** Milliseconds to the next try after a failure; doubles with each, up to `lastRetry`. */
const firstRetry = 1_000;
const lastRetry = 120_000;

interface Planned {
  readonly poll: Poll;
  due: number;
  /** Delay after the next success. */
  delay: number;
  failures: number;
}

/**
 * Asks a guest's agent in turn, one question at a time: all at once, after 10 s, 20 s and so on up
 * to the interval of each. A failed question is repeated after 1 s, 2 s and so on up to two minutes
 * or its interval.
 */
export class AgentPoller {
  readonly #polls: readonly Poll[];
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #metrics: Metrics;
  #stop: AbortController | undefined;

  constructor(
    polls: readonly Poll[],
    clock: Clock = realClock,
    { log = silentLog, metrics = noMetrics }: Observers = {},
  ) {
    this.#log = log;
    this.#metrics = metrics;
    this.#polls = polls;
    this.#clock = clock;
  }

  /** Begins with a first round. Does nothing if it has begun. */
  start(): void {
    if (this.#stop) return;
    this.#stop = new AbortController();
    void this.#loop(this.#stop.signal);
  }

  /** Ends at once; abandons a question in progress. */
  stop(): void {
    this.#stop?.abort();
    this.#stop = undefined;
  }

  async #loop(signal: AbortSignal): Promise<void> {
    const now = this.#clock.now();
    const plan: Planned[] = this.#polls.map((poll) => ({
      poll,
      due: now,
      delay: Math.min(firstDelay, poll.interval),
      failures: 0,
    }));
    while (!signal.aborted) {
      const next = plan.reduce<Planned | undefined>(
        (first, one) => (first && first.due <= one.due ? first : one),
        undefined,
      );
      if (!next) return;
      const wait = next.due - this.#clock.now();
      if (wait > 0) await sleep(this.#clock, wait, signal);
      else await this.#ask(next, signal);
    }
  }

  async #ask(planned: Planned, signal: AbortSignal): Promise<void> {
    const { poll } = planned;
    try {
      await poll.run(signal);
      planned.failures = 0;
      planned.due = this.#clock.now() + planned.delay;
      planned.delay = Math.min(planned.delay * 2, poll.interval);
    } catch (error) {
      // Not vital, as in KubeVirt: a guest need not know the command.
      this.#log.debug({ error: describeError(error) }, "the guest's agent did not answer");
      this.#metrics.count("agent_poll_failures");
      const longest = Math.max(lastRetry, poll.interval);
      const retry = Math.min(firstRetry * 2 ** planned.failures, longest);
      planned.failures++;
      planned.due = this.#clock.now() + retry;
    }
  }
}
