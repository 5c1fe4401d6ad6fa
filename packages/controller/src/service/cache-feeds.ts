import type { Clock } from "@virtkit/api/clock";
import type { Observers } from "@virtkit/api/observe";
import type { Random } from "@virtkit/api/random";
import { apiVersionOf, type KubeClient, type KubeObject, type Resource } from "@virtkit/kube";
import { Cache, type CacheOptions } from "@virtkit/kube/cache";
import { Reflector, withoutManagedFields } from "@virtkit/kube/reflector";

/** What feeds the caches. */
export interface CacheFeedsOptions extends Observers {
  readonly client: KubeClient;
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
  /**
   * A watch that has received nothing from its server for this many milliseconds is a problem. By
   * default five minutes.
   */
  readonly mostBlind?: number | undefined;
}

/** One cache and how it is fed. */
export interface FedCache<T extends KubeObject, Index extends string> {
  readonly indexes?: CacheOptions<T, Index>["indexes"];
  readonly labelSelector?: string;
  /** The parts of an object to keep: parts that nobody reads cost memory for each object. */
  readonly keep?: (object: T) => T;
}

interface Feed {
  readonly cache: Cache<KubeObject, string>;
  readonly start: (signal: AbortSignal) => Reflector<KubeObject>;
  reflector?: Reflector<KubeObject>;
}

/**
 * Caches that several controllers read; each is fed by one watch, which starts when the first controller asks for
 * it.
 */
export class CacheFeeds {
  readonly #options: CacheFeedsOptions;
  readonly #feeds = new Map<string, Feed>();
  readonly #follow: Promise<void>[] = [];
  #signal: AbortSignal | undefined;
  #fail: (error: unknown) => void = () => {};

  constructor(options: CacheFeedsOptions) {
    this.#options = options;
  }

  /** The cache of a resource; the first caller decides how it is indexed and fed. */
  cache<T extends KubeObject, Index extends string = never>(
    resource: Resource<T>,
    { indexes, labelSelector, keep }: FedCache<T, Index> = {},
  ): Cache<T, Index> {
    const id = `${apiVersionOf(resource)}/${resource.plural}`;
    const made = this.#feeds.get(id);
    if (made) return made.cache as unknown as Cache<T, Index>;
    const { client, mostBlind: _, ...run } = this.#options;
    const cache = new Cache<T, Index>(resource, { indexes, log: run.log });
    const transform = keep && ((object: T): T => keptOf(object, keep));
    const start = (signal: AbortSignal) =>
      new Reflector(client, resource, { ...run, labelSelector, transform, signal });
    const feed = { cache, start } as unknown as Feed;
    this.#feeds.set(id, feed);
    this.#start(feed);
    return cache;
  }

  /** The cache of a resource, if anyone has asked for it. */
  find(resource: Resource): Cache<KubeObject, string> | undefined {
    return this.#feeds.get(`${apiVersionOf(resource)}/${resource.plural}`)?.cache;
  }

  /**
   * Feeds all caches until the signal is aborted. Rejects if a cache cannot be fed because of a
   * defect.
   */
  async run({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    this.#signal = signal;
    const failed = new Promise<void>((resolve, reject) => {
      this.#fail = reject;
      signal.addEventListener("abort", () => resolve(), { once: true });
      if (signal.aborted) resolve();
    });
    for (const feed of this.#feeds.values()) this.#start(feed);
    try {
      await failed;
    } finally {
      this.#signal = undefined;
      await Promise.allSettled(this.#follow.splice(0));
    }
  }

  /** For a health check: watches that have received nothing from their server. */
  problems(): readonly string[] {
    const { mostBlind = 300_000 } = this.#options;
    return [...this.#feeds].flatMap(([id, { reflector }]) => {
      const blindFor = reflector?.blindFor() ?? 0;
      return blindFor > mostBlind
        ? [`${id} has received nothing from its server for ${blindFor} ms`]
        : [];
    });
  }

  #start(feed: Feed): void {
    const signal = this.#signal;
    if (!signal || signal.aborted) return;
    const reflector = feed.start(signal);
    feed.reflector = reflector;
    const following = feed.cache.follow(reflector);
    following.catch((error: unknown) => this.#fail(error));
    this.#follow.push(following);
  }
}

/**
 * The kept parts of an object from a server in the same process are frozen like the object itself.
 */
function keptOf<T extends KubeObject>(object: T, keep: (object: T) => T): T {
  const kept = keep(withoutManagedFields(object));
  return Object.isFrozen(object) ? Object.freeze(kept) : kept;
}
