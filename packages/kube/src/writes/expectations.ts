import { type Clock, realClock } from "@virtkit/api/clock";
import { type Log, type Metrics, noMetrics, type Observers, silentLog } from "@virtkit/api/observe";
import type { Cache } from "../cache/cache.ts";
import { objectKey } from "../cache/object-key.ts";
import { isUncertain } from "../client/kube-error.ts";
import type { KubeObject } from "../client/kube-object.ts";
import type { ObjectName } from "../client/resource.ts";

/** Options of {@link Expectations}. */
export interface ExpectationsOptions extends Observers {
  readonly clock?: Clock | undefined;
  /** Milliseconds after which a write is no longer expected to appear in the watch. By default five minutes. */
  readonly expiry?: number | undefined;
}

/** What one key waits to see, and until when. */
interface Waiting {
  /** Creations without an answer so far. */
  readonly unanswered: Map<symbol, number>;
  /** UIDs that were created. */
  readonly created: Map<string, number>;
  /** UIDs that were deleted. */
  readonly deleted: Map<string, number>;
  /** UIDs that the watch has shown while a creation had no answer: it may be faster than the answer. */
  readonly seen: Set<string>;
}

/**
 * Writes that the cache does not show yet. A cache lags: a reconciler that has just created a Pod may not find it
 * in the cache, and would create another. It should act on a key only if {@link isSatisfied} is true.
 *
 * @example
 * if (expectations.isSatisfied(key))
 *   await expectations.create(key, () => client.create(pods, pod, { signal }));
 */
export class Expectations {
  readonly #waiting = new Map<string, Waiting>();
  readonly #clock: Clock;
  readonly #expiry: number;
  readonly #log: Log;
  readonly #metrics: Metrics;

  constructor(options: ExpectationsOptions = {}) {
    this.#clock = options.clock ?? realClock;
    this.#expiry = options.expiry ?? 300_000;
    this.#log = options.log ?? silentLog;
    this.#metrics = options.metrics ?? noMetrics;
  }

  /** Whether everything that was written for this key has been seen, or is not waited for any more. */
  isSatisfied(key: string): boolean {
    return this.expiresIn(key) === 0;
  }

  /** Milliseconds until the last thing that is waited for expires; 0 if there is nothing. */
  expiresIn(key: string): number {
    const waiting = this.#waiting.get(key);
    if (!waiting) return 0;
    const now = this.#clock.now();
    let last = now;
    for (const all of [waiting.unanswered, waiting.created, waiting.deleted]) {
      for (const [what, until] of all as Map<unknown, number>) {
        if (until > now) last = Math.max(last, until);
        else this.#expire(key, all as Map<unknown, number>, what);
      }
    }
    this.#tidy(key, waiting);
    return last - now;
  }

  /**
   * Creates an object, and waits to see it. A creation that the server has refused is not waited for; one without an
   * answer is, for it may have happened.
   */
  async create<T extends KubeObject>(key: string, send: () => Promise<T>): Promise<T> {
    const waiting = this.#for(key);
    const creation = Symbol("creation");
    waiting.unanswered.set(creation, this.#clock.now() + this.#expiry);
    try {
      const created = await send();
      waiting.unanswered.delete(creation);
      const { uid } = created.metadata;
      if (uid !== undefined && !waiting.seen.has(uid)) {
        waiting.created.set(uid, this.#clock.now() + this.#expiry);
      }
      return created;
    } catch (error) {
      if (!isUncertain(error)) waiting.unanswered.delete(creation);
      throw error;
    } finally {
      this.#tidy(key, waiting);
    }
  }

  /** Deletes the object with this UID, and waits to see that it goes. */
  async delete(key: string, uid: string, send: () => Promise<void>): Promise<void> {
    const waiting = this.#for(key);
    waiting.deleted.set(uid, this.#clock.now() + this.#expiry);
    try {
      await send();
    } catch (error) {
      if (!isUncertain(error)) waiting.deleted.delete(uid);
      throw error;
    } finally {
      this.#tidy(key, waiting);
    }
  }

  /** The watch has shown the object. */
  sawCreated(key: string, uid: string): void {
    const waiting = this.#waiting.get(key);
    if (!waiting) return;
    waiting.created.delete(uid);
    if (waiting.unanswered.size > 0) waiting.seen.add(uid);
    this.#tidy(key, waiting);
  }

  /** The watch has shown that the object is gone, or that it is going. */
  sawDeleted(key: string, uid: string): void {
    this.sawCreated(key, uid);
    const waiting = this.#waiting.get(key);
    if (!waiting) return;
    waiting.deleted.delete(uid);
    this.#tidy(key, waiting);
  }

  /** Nobody will ask for this key again. */
  forget(key: string): void {
    this.#waiting.delete(key);
  }

  /**
   * Follows the changes in a cache; `keys` returns the keys that an object concerns, as in `watch`. Returns a function
   * that stops it.
   */
  follow<T extends KubeObject>(
    cache: Cache<T, string>,
    keys: (object: T) => readonly ObjectName[],
  ): () => void {
    return cache.subscribe((change) => {
      const object = change.type === "deleted" ? change.old : change.object;
      const { uid = "", deletionTimestamp } = object.metadata;
      const isGoing = change.type === "deleted" || deletionTimestamp !== undefined;
      for (const name of keys(object)) {
        if (isGoing) this.sawDeleted(objectKey(name), uid);
        else this.sawCreated(objectKey(name), uid);
      }
    });
  }

  #for(key: string): Waiting {
    const known = this.#waiting.get(key);
    if (known) return known;
    const waiting: Waiting = {
      unanswered: new Map(),
      created: new Map(),
      deleted: new Map(),
      seen: new Set(),
    };
    this.#waiting.set(key, waiting);
    return waiting;
  }

  #expire(key: string, all: Map<unknown, number>, what: unknown): void {
    all.delete(what);
    this.#metrics.count("kube_expectations_expired");
    const uid = typeof what === "string" ? what : undefined;
    this.#log.warn({ key, uid }, "no watch showed the write in time; no longer waiting for it");
  }

  #tidy(key: string, { unanswered, created, deleted, seen }: Waiting): void {
    if (unanswered.size > 0) return;
    seen.clear();
    if (created.size + deleted.size === 0) this.#waiting.delete(key);
  }
}
