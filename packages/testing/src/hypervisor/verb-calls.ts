import type { Clock } from "@virtkit/api/clock";
import type { DomainManagerError, GuestControl } from "@virtkit/domain-manager";
import { guestFailure } from "./guest-failure.ts";

/** The verbs whose reply can be lost. */
export type GuestVerb = Exclude<keyof GuestControl, "events">;

/** How a verb is carried out. */
export interface VerbCall {
  readonly verb: GuestVerb;
  /** Milliseconds, unless the caller says otherwise. */
  readonly timeout: number;
  readonly options?: Parameters<GuestControl["pause"]>[0];
  /** `turn`: one after the other. `beside`: at once. `first`: at once, and what is in progress ends. */
  readonly order: "turn" | "beside" | "first";
}

/** Carries out the verbs of one guest in the domain manager's order, each with its deadline. */
export class VerbCalls {
  readonly #clock: Clock;
  readonly #lost: GuestVerb[] = [];
  #last: Promise<unknown> = Promise.resolve();
  #running: AbortController | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The next call of a verb takes effect, and its answer never comes. */
  loseReply(verb: GuestVerb): void {
    this.#lost.push(verb);
  }

  /** Rejects at the deadline and with the caller's signal; what was begun may then still be carried out. */
  async run<T>(call: VerbCall, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { verb, options: { signal, timeout = call.timeout } = {} } = call;
    const over = new AbortController();
    const isLost = this.#takeLost(verb);
    const tooLate = `${verb}: not done in ${timeout} ms; ask for the status`;
    const givenUp = `${verb}: the caller gave up; ask for the status`;
    const end = (message: string): void =>
      over.abort(guestFailure("DOMAIN_TIMEOUT", message, verb));
    const timer = this.#clock.setTimeout(() => end(tooLate), timeout);
    const onAbort = (): void => end(givenUp);
    signal?.addEventListener("abort", onAbort, { once: true });
    if (signal?.aborted) onAbort();
    const ended = rejected(over.signal);
    try {
      const result = await Promise.race([ended, this.#inOrder(call, over, work)]);
      return isLost ? await ended : result;
    } finally {
      this.#clock.clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    }
  }

  async #inOrder<T>(
    { verb, order }: VerbCall,
    over: AbortController,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    over.signal.throwIfAborted();
    if (order === "first") this.#running?.abort(overtaken(verb));
    if (order !== "turn") return await work(over.signal);
    const turn = this.#last.then(async () => {
      over.signal.throwIfAborted();
      this.#running = over;
      try {
        return await work(over.signal);
      } finally {
        this.#running = undefined;
      }
    });
    // The caller learns of its failure; the next call has its turn either way.
    this.#last = turn.catch(() => {});
    return await turn;
  }

  #takeLost(verb: GuestVerb): boolean {
    const at = this.#lost.indexOf(verb);
    if (at >= 0) this.#lost.splice(at, 1);
    return at >= 0;
  }
}

async function rejected(signal: AbortSignal): Promise<never> {
  signal.throwIfAborted();
  return await new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

function overtaken(verb: string): DomainManagerError {
  return guestFailure("DOMAIN_STATE", `the guest is being ended by ${verb}`, verb);
}
