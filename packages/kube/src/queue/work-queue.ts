import { type Clock, realClock } from "@virtkit/api/clock";
import { type Metrics, noMetrics, type Observers } from "@virtkit/api/observe";
import { KubeError } from "../client/kube-error.ts";
import { Delays } from "./delays.ts";
import { Lane } from "./lane.ts";
import { createRateLimiter, type RateLimiter } from "./rate-limiter.ts";

/** How soon a key is taken, compared with others. */
export type Priority = "high" | "normal" | "low";

const priorities = ["high", "normal", "low"] as const satisfies readonly Priority[];
/** In units of the head start. */
const headStarts = { high: 1, normal: 0, low: -1 } as const satisfies Record<Priority, number>;

/** Options of {@link WorkQueue}. */
export interface WorkQueueOptions extends Observers {
  /** Tells the metrics of several queues apart. */
  readonly name?: string | undefined;
  readonly clock?: Clock | undefined;
  /** What `addRateLimited` asks. By default {@link createRateLimiter} with its defaults. */
  readonly rateLimiter?: RateLimiter | undefined;
  /**
   * What a priority is worth, in milliseconds: a key of high priority is taken before normal ones that were added up to
   * so long before it, and those before low ones likewise. Nothing waits forever. By default ten seconds.
   */
  readonly headStart?: number | undefined;
}

interface Item {
  readonly key: string;
  priority: Priority;
  /** When it was first added, for the wait that is measured. */
  addedAt: number;
  /** Decides its turn within its lane. */
  queuedAt: number;
  state: "waiting" | "taken";
  /** Added again while it was taken: the update that must not get lost. */
  again: Priority | undefined;
}

/**
 * Keys that need work. Adding a key that is already waiting does nothing. A key that is added while a worker has it
 * is taken once more after `done`, so no update is lost, and two workers never have the same key. Keys are taken in
 * the order in which they were added, except for priorities; a key that is added again and again goes to the end
 * each time.
 *
 * @example
 * for (let key = await queue.get(); key !== undefined; key = await queue.get()) {
 *   await work(key);
 *   queue.done(key);
 * }
 */
export class WorkQueue {
  readonly #items = new Map<string, Item>();
  readonly #lanes = { high: new Lane<Item>(), normal: new Lane<Item>(), low: new Lane<Item>() };
  readonly #delays: Delays;
  readonly #delayedPriorities = new Map<string, Priority>();
  readonly #takers: ((key: string | undefined) => void)[] = [];
  readonly #clock: Clock;
  readonly #rateLimiter: RateLimiter;
  readonly #headStart: number;
  readonly #metrics: Metrics;
  readonly #labels: { readonly queue: string };
  #taken = 0;
  #state: "open" | "draining" | "shut" = "open";
  #ended: (() => void)[] = [];

  constructor({
    name = "queue",
    clock = realClock,
    rateLimiter = createRateLimiter({ clock }),
    headStart = 10_000,
    metrics = noMetrics,
  }: WorkQueueOptions = {}) {
    this.#clock = clock;
    this.#rateLimiter = rateLimiter;
    this.#headStart = headStart;
    this.#metrics = metrics;
    this.#labels = { queue: name };
    this.#delays = new Delays(clock, (key) => {
      const priority = this.#delayedPriorities.get(key);
      this.#delayedPriorities.delete(key);
      this.add(key, priority);
    });
  }

  /** Keys waiting to be taken; those with a delay that is not over are not among them. */
  get length(): number {
    return this.#lanes.high.size + this.#lanes.normal.size + this.#lanes.low.size;
  }

  /** Keys that are taken and not done. */
  get taken(): number {
    return this.#taken;
  }

  /** Failures of a key since it was last forgotten. */
  failures(key: string): number {
    return this.#rateLimiter.failures(key);
  }

  /** After `shutDown` this does nothing. */
  add(key: string, priority: Priority = "normal"): void {
    if (this.#state !== "open") return;
    this.#metrics.count("kube_queue_adds", this.#labels);
    const item = this.#items.get(key);
    if (!item) {
      const now = this.#clock.now();
      const added: Item = {
        key,
        priority,
        addedAt: now,
        queuedAt: now,
        state: "waiting",
        again: undefined,
      };
      this.#items.set(key, added);
      this.#enqueue(added);
    } else if (item.state === "waiting") this.#hurry(item, priority);
    else if (!item.again || headStarts[item.again] < headStarts[priority]) item.again = priority;
  }

  /** Adds the key later. Of two delays for one key, the earlier one counts; `add` does not end a delay. */
  addAfter(key: string, milliseconds: number, priority: Priority = "normal"): void {
    if (this.#state !== "open") return;
    if (!(milliseconds > 0)) {
      this.add(key, priority);
      return;
    }
    const known = this.#delayedPriorities.get(key);
    if (!known || headStarts[known] < headStarts[priority]) {
      this.#delayedPriorities.set(key, priority);
    }
    this.#delays.set(key, milliseconds);
  }

  /** Adds a key that failed, after what the rate limiter says, and not before `atLeast` milliseconds. */
  addRateLimited(
    key: string,
    {
      atLeast = 0,
      priority,
    }: { readonly atLeast?: number; readonly priority?: Priority | undefined } = {},
  ): void {
    if (this.#state !== "open") return;
    this.#metrics.count("kube_queue_retries", this.#labels);
    this.addAfter(key, Math.max(atLeast, this.#rateLimiter.delay(key)), priority);
  }

  /** The key has succeeded: its next failure is its first. */
  forget(key: string): void {
    this.#rateLimiter.forget(key);
  }

  /** Takes a key, once there is one; `done` must follow. `undefined` once the queue is shut down, or on the signal. */
  async get({
    signal,
  }: {
    readonly signal?: AbortSignal | undefined;
  } = {}): Promise<string | undefined> {
    if (signal?.aborted) return undefined;
    const item = this.#next();
    if (item) return this.#take(item);
    if (this.#state !== "open") return undefined;
    return await new Promise((resolve) => {
      const end = (key: string | undefined): void => {
        signal?.removeEventListener("abort", giveUp);
        resolve(key);
      };
      const giveUp = (): void => {
        this.#takers.splice(this.#takers.indexOf(end), 1);
        resolve(undefined);
      };
      this.#takers.push(end);
      signal?.addEventListener("abort", giveUp, { once: true });
    });
  }

  /** The taker of the key has finished with it. */
  done(key: string): void {
    const item = this.#items.get(key);
    if (item?.state !== "taken") {
      throw new KubeError(
        "KUBE_INPUT_INVALID",
        `done("${key}"): this key is not taken; call done once for each key that get returns`,
        { path: "done" },
      );
    }
    this.#taken--;
    if (item.again && this.#state !== "shut") {
      item.priority = item.again;
      item.again = undefined;
      item.state = "waiting";
      item.addedAt = item.queuedAt = this.#clock.now();
      this.#enqueue(item);
    } else this.#items.delete(key);
    this.#endIfDone();
  }

  /**
   * Takes no more keys and forgets the delays. What waits is dropped, or with `drain` still handed out. Resolves once
   * everything that was taken is done.
   */
  async shutDown({ drain = false }: { readonly drain?: boolean } = {}): Promise<void> {
    this.#state = drain && this.#state !== "shut" ? "draining" : "shut";
    this.#delays.clear();
    this.#delayedPriorities.clear();
    if (!drain) this.#drop();
    for (const end of this.#takers.splice(0)) end(undefined);
    const ended = new Promise<void>((resolve) => void this.#ended.push(resolve));
    this.#endIfDone();
    await ended;
  }

  #drop(): void {
    for (const item of [...this.#items.values()]) {
      if (item.state !== "waiting") continue;
      this.#lanes[item.priority].remove(item);
      this.#items.delete(item.key);
    }
    this.#tellDepth();
  }

  #endIfDone(): void {
    if (this.#state === "open" || this.#taken > 0 || this.length > 0) return;
    for (const end of this.#ended.splice(0)) end();
  }

  #enqueue(item: Item): void {
    this.#lanes[item.priority].push(item);
    const taker = this.#takers.shift();
    if (taker) taker(this.#take(item));
    else this.#tellDepth();
  }

  /** Moves a key that waits to the lane of a higher priority, if its turn comes sooner there. */
  #hurry(item: Item, priority: Priority): void {
    const now = this.#clock.now();
    if (this.#rank(priority, now) >= this.#rank(item.priority, item.queuedAt)) return;
    this.#lanes[item.priority].remove(item);
    item.priority = priority;
    item.queuedAt = now;
    this.#lanes[priority].push(item);
  }

  #rank(priority: Priority, queuedAt: number): number {
    return queuedAt - headStarts[priority] * this.#headStart;
  }

  #next(): Item | undefined {
    let best: Item | undefined;
    let bestRank = Number.POSITIVE_INFINITY;
    for (const priority of priorities) {
      const item = this.#lanes[priority].peek();
      if (!item) continue;
      const rank = this.#rank(priority, item.queuedAt);
      if (rank < bestRank) {
        best = item;
        bestRank = rank;
      }
    }
    return best;
  }

  #take(item: Item): string {
    this.#lanes[item.priority].remove(item);
    item.state = "taken";
    this.#taken++;
    const waited = (this.#clock.now() - item.addedAt) / 1_000;
    this.#metrics.observe("kube_queue_wait_seconds", waited, this.#labels);
    this.#tellDepth();
    return item.key;
  }

  #tellDepth(): void {
    this.#metrics.observe("kube_queue_depth", this.length, this.#labels);
  }
}
