import type { Clock } from "@virtkit/api/clock";
import { KubeError } from "../client/kube-error.ts";

/** A moment according to the two clocks of a host. One of them stands still while the host is suspended. */
export interface Instant {
  readonly monotonic: number;
  readonly wall: number;
}

/** Options of a {@link Leadership}. */
export interface LeadershipOptions {
  /** `namespace/name` of the lease. */
  readonly lease: string;
  readonly clock: Clock;
  readonly now: () => Instant;
  /** Milliseconds from the moment at which a renewal was sent to the end of the work. */
  readonly window: number;
  readonly since: Instant;
}

/**
 * The right to work, for as long as the lease is renewed. Its `signal` ends the work. Call `check` before each
 * action: in a process that was frozen, it throws before any timer has fired.
 */
export class Leadership {
  readonly lease: string;
  readonly #options: LeadershipOptions;
  readonly #stop = new AbortController();
  #since: Instant;
  #timer: unknown;
  #lost: KubeError | undefined;

  constructor(options: LeadershipOptions) {
    this.lease = options.lease;
    this.#options = options;
    this.#since = options.since;
    this.#arm();
  }

  /** Aborted when the work must end: the lease is lost, or the election was asked to stop. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Whether nobody else can be at work now. Looks at the clock. */
  isHeld(): boolean {
    if (this.#lost) return false;
    if (this.#left() > 0) return true;
    this.lose(`was not renewed for ${this.#options.window} ms`);
    return false;
  }

  /** Throws a `KubeError` with the code `KUBE_LEASE_LOST` unless the lease is held. Call it right before you act. */
  check(): void {
    if (!this.isHeld()) throw this.#lost;
  }

  /** A renewal that was sent at this moment has succeeded. One that was answered too late changes nothing. */
  renewed(sentAt: Instant): void {
    if (!this.isHeld() || sentAt.monotonic < this.#since.monotonic) return;
    this.#since = sentAt;
  }

  /** Ends the work, and forbids whatever it still wants to do. */
  lose(why: string): void {
    if (this.#lost) return;
    const message = `the lease ${this.lease} ${why}; another holder may be working`;
    this.#lost = new KubeError("KUBE_LEASE_LOST", message, { path: this.lease });
    this.#options.clock.clearTimeout(this.#timer);
    this.#stop.abort(this.#lost);
  }

  /** Asks the work to end; until it has ended, the lease is held, and it may still act. */
  askToStop(reason: unknown): void {
    this.#stop.abort(reason);
  }

  #left(): number {
    const { window, now } = this.#options;
    const { monotonic, wall } = now();
    const since = this.#since;
    return window - Math.max(monotonic - since.monotonic, wall - since.wall);
  }

  #arm(): void {
    const { clock } = this.#options;
    this.#timer = clock.setTimeout(
      () => {
        if (this.isHeld()) this.#arm();
      },
      Math.max(1, this.#left()),
    );
  }
}
