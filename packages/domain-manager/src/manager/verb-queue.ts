import { type Clock, realClock } from "@virtkit/api/clock";
import { DomainManagerError } from "../domain-manager-error.ts";
import type { CallOptions } from "../libvirt/rpc/pending-call.ts";
import { domainFailure } from "./domain-failure.ts";

/** What the work of a verb receives. */
export interface VerbCall {
  /** Ends the work: the deadline, the caller, or a verb that cannot wait. */
  readonly signal: AbortSignal;
  /**
   * For a call that must not be abandoned while the daemon carries it out, because the next step
   * has to know how it ended: only the deadline ends it.
   */
  uninterrupted(): CallOptions;
}

/** One verb. */
export interface Verb<T> {
  /** For messages. */
  readonly name: string;
  /** Milliseconds, unless the caller gives another value. */
  readonly timeout: number;
  readonly options?: CallOptions | undefined;
  /** Goes first, and ends what is in progress. */
  readonly urgent?: boolean;
  readonly work: (call: VerbCall) => Promise<T>;
}

interface Turn {
  readonly abort: (reason: DomainManagerError) => void;
  readonly start: () => void;
}

/**
 * Carries out the verbs of one guest, one at a time, in order. A verb's deadline counts from the
 * call, including time in the queue. Its caller is answered at the deadline at the latest; the next
 * verb begins only when the work itself has ended.
 */
export class VerbQueue {
  readonly #clock: Clock;
  readonly #waiting: Turn[] = [];
  #running: Turn | undefined;

  constructor(clock: Clock = realClock) {
    this.#clock = clock;
  }

  /** Waits for its turn and works. Rejects only with a `DomainManagerError`. */
  async run<T>(verb: Verb<T>): Promise<T> {
    return await this.#timed(verb, async (call, abort) => {
      const release = await this.#turn(call.signal, abort, verb);
      // It may have been told to end before it could begin.
      const work = call.signal.aborted ? Promise.reject(call.signal.reason) : verb.work(call);
      // Not the caller's promise: that one may settle before the work ends.
      work.then(release, release);
      return await work;
    });
  }

  /** Works at once, beside the queue: for what only reads. */
  async beside<T>(verb: Omit<Verb<T>, "urgent">): Promise<T> {
    return await this.#timed(verb, async (call) => await verb.work(call));
  }

  async #timed<T>(
    { name, timeout: usual, options: { signal, timeout = usual } = {} }: Verb<T>,
    run: (call: VerbCall, abort: (reason: DomainManagerError) => void) => Promise<T>,
  ): Promise<T> {
    const controller = new AbortController();
    const abort = (reason: unknown): void => controller.abort(reason);
    const end = this.#clock.now() + timeout;
    const timer = this.#clock.setTimeout(
      () => abort(tooLate(name, timeout)),
      Math.min(timeout, 0x7fffffff),
    );
    const onAbort = (): void => abort(givenUp(name, signal?.reason));
    signal?.addEventListener("abort", onAbort, { once: true });
    if (signal?.aborted) onAbort();
    const call: VerbCall = {
      signal: controller.signal,
      uninterrupted: () => ({ timeout: Math.max(end - this.#clock.now(), 1) }),
    };
    try {
      return await untilAborted(controller.signal, () => run(call, abort));
    } catch (error) {
      // What the work reports after it was told to end is only a consequence of that.
      throw domainFailure(name, controller.signal.aborted ? controller.signal.reason : error);
    } finally {
      this.#clock.clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    }
  }

  /** Resolves when nothing else is in progress, with the function that lets the next one begin. */
  async #turn(
    signal: AbortSignal,
    abort: Turn["abort"],
    { name, urgent = false }: Pick<Verb<unknown>, "name" | "urgent">,
  ): Promise<() => void> {
    signal.throwIfAborted();
    return await new Promise((resolve, reject) => {
      const onAbort = (): void => {
        const at = this.#waiting.indexOf(turn);
        if (at >= 0) this.#waiting.splice(at, 1);
        reject(signal.reason);
      };
      const turn: Turn = {
        abort,
        start: () => {
          signal.removeEventListener("abort", onAbort);
          resolve(() => {
            this.#running = undefined;
            this.#next();
          });
        },
      };
      signal.addEventListener("abort", onAbort, { once: true });
      if (urgent) {
        this.#waiting.unshift(turn);
        this.#running?.abort(overtaken(name));
      } else {
        this.#waiting.push(turn);
      }
      this.#next();
    });
  }

  #next(): void {
    if (this.#running) return;
    this.#running = this.#waiting.shift();
    this.#running?.start();
  }
}

async function untilAborted<T>(signal: AbortSignal, run: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  return await new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    run()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", onAbort));
  });
}

function tooLate(verb: string, timeout: number): DomainManagerError {
  const message = `${verb}: not done in ${timeout} ms; it may still be carried out: check the status`;
  return new DomainManagerError("DOMAIN_TIMEOUT", message, { path: verb });
}

function givenUp(verb: string, cause: unknown): DomainManagerError {
  const message = `${verb}: the caller gave up; it may still be carried out: check the status`;
  return new DomainManagerError("DOMAIN_TIMEOUT", message, { path: verb, cause });
}

function overtaken(verb: string): DomainManagerError {
  const message = `${verb} is ending the guest; what was in progress is abandoned`;
  return new DomainManagerError("DOMAIN_STATE", message, { path: verb });
}
