import type { Clock } from "@virtkit/api/clock";
import { isKubeError, KubeError } from "./kube-error.ts";

/** The time that one request has, and what a failure of it means. */
export class RequestScope implements Disposable {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #timeout: number;
  readonly #deadline: number;
  readonly #outer: AbortSignal | undefined;
  readonly #controller = new AbortController();
  readonly #stop = (): void => this.#controller.abort();
  readonly #timer: unknown;
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
    return this.#controller.signal;
  }

  /** Whether something that takes so long can still be done in time. */
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
      const message = `${path}: no answer in ${this.#timeout} ms; whether it took effect is not known`;
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
    this.#clock.clearTimeout(this.#timer);
    this.#outer?.removeEventListener("abort", this.#stop);
  }
}
