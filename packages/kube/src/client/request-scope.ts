import type { Clock } from "@virtkit/api/clock";
import { isKubeError, KubeError } from "./kube-error.ts";

/** The time that one request has, and what a failure of it means. */
export class RequestScope implements Disposable {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #timeout: number;
  readonly #deadline: number;
  readonly #outer: AbortSignal | undefined;
  readonly #stop = (): void => {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#onStop?.();
    this.#controller?.abort();
  };
  readonly #timer: unknown;
  /** Made only when somebody asks for its signal: most requests need none. */
  #controller: AbortController | undefined;
  #onStop: (() => void) | undefined;
  #isStopped = false;
  #isLate = false;

  constructor(path: string, clock: Clock, timeout: number, outer: AbortSignal | undefined) {
    this.#path = path;
    this.#clock = clock;
    this.#timeout = timeout;
    this.#deadline = clock.now() + timeout;
    this.#outer = outer;
    outer?.addEventListener("abort", this.#stop);
    if (outer?.aborted) this.#stop();
    this.#timer = clock.setTimeout(() => {
      this.#isLate = true;
      this.#stop();
    }, timeout);
  }

  /** Ends with the caller's signal, or when the time is over. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#isStopped) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  /** Calls this when the signal ends, in place of what was to be called before. */
  onStop(callback: () => void): void {
    this.#onStop = callback;
    if (this.#isStopped) callback();
  }

  /** Whether something that takes this long can still be done in time. */
  hasTimeFor(milliseconds: number): boolean {
    return this.#clock.now() + milliseconds < this.#deadline;
  }

  /** From now on there is time without end: a watch is open. */
  started(): void {
    this.#clock.clearTimeout(this.#timer);
  }

  /** What a failure is to the caller. */
  error(cause: unknown): KubeError {
    const path = this.#path;
    if (this.#outer?.aborted) {
      return new KubeError("KUBE_ABORTED", `${path}: aborted`, { path, cause: this.#outer.reason });
    }
    if (this.#isLate) {
      const message = `${path}: no answer within ${this.#timeout} ms; it may or may not have taken effect`;
      return new KubeError("KUBE_TIMEOUT", message, { path });
    }
    if (isKubeError(cause)) return cause;
    const text = cause instanceof Error ? cause.message : String(cause);
    return new KubeError("KUBE_CONNECTION", `${path}: the connection failed: ${text}`, {
      path,
      cause,
    });
  }

  [Symbol.dispose](): void {
    this.#onStop = undefined;
    this.#clock.clearTimeout(this.#timer);
    this.#outer?.removeEventListener("abort", this.#stop);
  }
}
