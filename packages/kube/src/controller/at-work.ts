import type { Clock } from "@virtkit/api/clock";
import { KubeError } from "../client/kube-error.ts";

/** A reconcile that still runs this long after its deadline is a problem. */
const overdueAfter = 10_000;

/** One reconcile that is at work. Its signal is made only when somebody asks for it: most never do. */
export class Work {
  readonly key: string;
  readonly startedAt: number;
  #controller: AbortController | undefined;
  #reason: { readonly value: unknown } | undefined;
  isOverdue = false;

  constructor(key: string, startedAt: number) {
    this.key = key;
    this.startedAt = startedAt;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#reason) this.#controller.abort(this.#reason.value);
    }
    return this.#controller.signal;
  }

  /** The first reason counts. */
  abort(reason: unknown): void {
    this.#reason ??= { value: reason };
    this.#controller?.abort(reason);
  }
}

/** The reconciles that are at work, and their deadline: one timer for all of them, since they end in order. */
export class AtWork {
  readonly #clock: Clock;
  readonly #deadline: number;
  readonly #onOverdue: (key: string) => void;
  /** In the order in which they began. */
  readonly #all = new Map<string, Work>();
  #timer: unknown;
  #isArmed = false;
  #ended: { readonly reason: unknown } | undefined;

  constructor(clock: Clock, deadline: number, onOverdue: (key: string) => void) {
    this.#clock = clock;
    this.#deadline = deadline;
    this.#onOverdue = onOverdue;
  }

  get size(): number {
    return this.#all.size;
  }

  /** Keys whose reconcile still runs long after its deadline. */
  get overdue(): readonly string[] {
    return [...this.#all.values()].filter(({ isOverdue }) => isOverdue).map(({ key }) => key);
  }

  begin(key: string): Work {
    const work = new Work(key, this.#clock.now());
    if (this.#ended) work.abort(this.#ended.reason);
    this.#all.set(key, work);
    if (!this.#isArmed) this.#arm(this.#deadline);
    return work;
  }

  end(key: string): void {
    this.#all.delete(key);
    if (this.#ended) this.#disarm();
  }

  /** Aborts all of them, and those that begin later. */
  abort(reason: unknown): void {
    if (this.#ended) return;
    this.#ended = { reason };
    for (const work of this.#all.values()) work.abort(reason);
    this.#disarm();
  }

  /**
   * The timer keeps running while nothing is at work, which is cheaper than one timer for each; it must stop
   * at the end.
   */
  #disarm(): void {
    if (this.#all.size > 0) return;
    this.#clock.clearTimeout(this.#timer);
    this.#isArmed = false;
  }

  #arm(milliseconds: number): void {
    this.#isArmed = true;
    this.#timer = this.#clock.setTimeout(() => this.#look(), milliseconds);
    this.#clock.unref?.(this.#timer);
  }

  #look(): void {
    this.#isArmed = false;
    const now = this.#clock.now();
    let next: number | undefined;
    for (const work of this.#all.values()) {
      if (work.isOverdue) continue;
      const late = now - work.startedAt - this.#deadline;
      if (late >= 0)
        work.abort(new KubeError("KUBE_TIMEOUT", `not done within ${this.#deadline} ms`));
      if (late >= overdueAfter) {
        work.isOverdue = true;
        this.#onOverdue(work.key);
        continue;
      }
      next = Math.min(next ?? Number.POSITIVE_INFINITY, late < 0 ? -late : overdueAfter - late);
    }
    if (next !== undefined) this.#arm(next);
  }
}
