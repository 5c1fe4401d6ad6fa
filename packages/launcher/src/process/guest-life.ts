import { type Clock, realClock, wallTime } from "@virtkit/api/clock";
import { describeError, type Log } from "@virtkit/api/observe";
import {
  type DomainStatus,
  type GuestEnd,
  guestEnd,
  hasEnded,
  hasLived,
  isAlive,
} from "@virtkit/domain-manager";
import type { LauncherGuest } from "./launcher-guest.ts";
import type { Ending } from "./termination-message.ts";

/** What {@link GuestLife} needs. */
export interface GuestLifeOptions {
  readonly gracePeriodSeconds: number;
  /** How long a launcher without a guest stays; 0, the default, means forever. */
  readonly startTimeoutSeconds?: number;
  /** The signal that ended the last QEMU that was seen to end; undefined if there was none. */
  readonly qemuSignal?: () => string | undefined;
  readonly log: Log;
  readonly clock?: Clock;
  readonly now?: () => Date;
}

/** How often a guest is asked to shut down; some must be asked twice. As in KubeVirt. */
const askInterval = 5_000;
/**
 * The delay before another attempt after events failed, and before another look at a killed guest.
 */
const retryInterval = 1_000;
/** How often to check whether a sync in progress has ended. */
const syncInterval = 100;
/** How often the guest is checked regardless of events: its end must not be missed. */
const lookInterval = 5_000;

/**
 * Follows a guest from its start to its end. Once the launcher was told to end, ends the guest:
 * asks it to shut down repeatedly, and kills it when its time is up.
 */
export class GuestLife {
  readonly #guest: LauncherGuest;
  readonly #options: GuestLifeOptions;
  readonly #clock: Clock;
  #status: DomainStatus | undefined;
  #hasLived = false;
  /** Whether there was a guest at any time. */
  #wasSeen = false;
  #asked = false;
  #killed = false;
  #lifeless: string | undefined;
  readonly #pauses = new Set<() => void>();
  #settle: ((ending: Ending) => void) | undefined;
  /**
   * Settles once: with how the guest ended, or that there was none when the launcher was told to
   * end.
   */
  readonly ended: Promise<Ending>;

  constructor(guest: LauncherGuest, options: GuestLifeOptions) {
    this.#guest = guest;
    this.#options = options;
    this.#clock = options.clock ?? realClock;
    this.ended = new Promise((resolve) => {
      this.#settle = resolve;
    });
    void guest.deleted.then(() => {
      // A deleted guest had ended, even if nobody here saw it alive.
      this.#hasLived = true;
      this.#finish();
    });
    void this.#follow();
    void this.#keepLooking();
  }

  /**
   * The guest's liveness probe has failed: ends it as if the launcher was told to end, with that
   * reason.
   */
  async endLifeless(message: string): Promise<void> {
    // One that is being shut down may well no longer answer.
    if (!this.#asked) this.#lifeless = message;
    await this.shutDown();
  }

  /** The launcher was told to end. Does nothing the second time. */
  async shutDown(): Promise<void> {
    if (this.#asked) return;
    this.#asked = true;
    const deadline = this.#clock.now() + this.#options.gracePeriodSeconds * 1_000;
    await this.#guest.markShutdown().catch((error: unknown) => this.#warn("status", error));
    // A guest that is just starting does not exist yet, and would end with the launcher at once.
    await this.#look();
    while (this.#guest.isSyncing && !this.#isAlive() && this.#clock.now() < deadline) {
      await this.#pause(syncInterval);
      await this.#look();
    }
    while (!this.#isOver() && this.#clock.now() < deadline) {
      const timeout = deadline - this.#clock.now();
      await this.#try("shutdown", () => this.#guest.shutdown({ timeout }));
      await this.#pause(Math.min(askInterval, Math.max(deadline - this.#clock.now(), 0)));
      await this.#look();
    }
    while (!this.#isOver()) {
      this.#killed = true;
      this.#options.log.warn("the guest did not shut down within its grace period and is killed");
      await this.#try("kill", () => this.#guest.kill());
      await this.#look();
      if (!this.#isOver()) await this.#pause(retryInterval);
    }
    this.#finish();
  }

  async #follow(): Promise<void> {
    const controller = new AbortController();
    void this.ended.then(() => controller.abort());
    while (!controller.signal.aborted) {
      try {
        for await (const event of this.#guest.events({ signal: controller.signal })) {
          // An event is only a reason to look: the end of the launcher is the end of its guest.
          if (event.kind === "status" && this.#hasEnded(event.status)) await this.#look();
        }
      } catch (error) {
        this.#warn("events", error);
      }
      await this.#pause(retryInterval);
    }
  }

  async #keepLooking(): Promise<void> {
    let idleSince = this.#clock.now();
    for (;;) {
      await this.#pause(lookInterval);
      if (!this.#settle) return;
      const before = this.#guest.syncsBegun;
      await this.#look();
      const isIdle = !this.#guest.isSyncing && this.#guest.syncsBegun === before;
      if (!isIdle || this.#hasLived) idleSince = this.#clock.now();
      if (this.#isLate(idleSince)) {
        this.#options.log.warn("nobody has started a guest; the launcher ends");
        // From here on no guest is started: that is refused before anything is awaited.
        void this.shutDown();
        return;
      }
    }
  }

  /** Whether nobody will start a guest any more. If that is unknown, the launcher stays. */
  #isLate(idleSince: number): boolean {
    const { startTimeoutSeconds = 0 } = this.#options;
    if (startTimeoutSeconds === 0 || this.#hasLived || !this.#isOver()) return false;
    return this.#clock.now() - idleSince >= startTimeoutSeconds * 1_000;
  }

  /**
   * Asks for the status. If that fails, it stays known that the guest lived, but not that it did
   * not.
   */
  async #look(): Promise<void> {
    let isFresh = false;
    await this.#try("status", async () => {
      const status = await this.#guest.status();
      isFresh = true;
      this.#status = status;
      if (this.#hasEnded(status)) this.#finish();
    });
    if (!isFresh && this.#isOver()) this.#status = undefined;
  }

  #isAlive(): boolean {
    return this.#status !== undefined && isAlive(this.#status);
  }

  /** Whether a status is that of a guest which has lived and has ended. */
  #hasEnded(status: DomainStatus): boolean {
    if (hasLived(status)) {
      this.#hasLived = true;
      this.#wasSeen = true;
    }
    return this.#hasLived && hasEnded(status);
  }

  /** Whether it is known that no guest runs. */
  #isOver(): boolean {
    return this.#status !== undefined && hasEnded(this.#status);
  }

  async #try(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#warn(what, error);
    }
  }

  #finish(): void {
    if (!this.#settle) return;
    const end = this.#wasSeen ? this.#endOf() : undefined;
    if (end) this.#guest.noteEnd(end);
    if (this.#status) this.#guest.announce(this.#status);
    const error = this.#lifeless;
    this.#settle({ how: this.#how(), status: this.#status, ...(end ? { end } : {}), error });
    this.#settle = undefined;
    for (const wake of this.#pauses) wake();
  }

  #how(): Ending["how"] {
    if (!this.#hasLived) return "never-ran";
    if (this.#lifeless !== undefined) return "liveness-failed";
    if (this.#killed) return "killed-after-grace";
    return this.#asked ? "shut-down" : "guest-ended";
  }

  #endOf(): GuestEnd {
    const { now = wallTime, qemuSignal } = this.#options;
    const { lastWords, told, panic } = this.#guest.endFacts;
    const last = lastWords ?? this.#status;
    const { state, reason } = last ?? { state: "Absent", reason: "" };
    const by = { signal: qemuSignal?.(), signalled: last?.signalled };
    const facts = { state, reason, told, panic, lifeless: this.#lifeless, ...by };
    return { ...guestEnd(facts), at: now().toISOString() };
  }

  /**
   * Waits, but not beyond the end of the guest. Leaves nothing behind: a guest may live for years.
   */
  async #pause(milliseconds: number): Promise<void> {
    if (!this.#settle) return;
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        this.#clock.clearTimeout(timer);
        this.#pauses.delete(wake);
        resolve();
      };
      const timer = this.#clock.setTimeout(wake, milliseconds);
      this.#pauses.add(wake);
    });
  }

  #warn(what: string, error: unknown): void {
    this.#options.log.warn({ error: describeError(error) }, `the guest's ${what} failed`);
  }
}
