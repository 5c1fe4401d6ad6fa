import { describeError, type Log, type Observers, silentLog } from "@virtkit/api/observe";
import { KubeError } from "../client/kube-error.ts";
import type { KubeObject } from "../client/kube-object.ts";
import type { ObjectName, Resource } from "../client/resource.ts";
import type { Reflector } from "../reflector/reflector.ts";
import type { ReflectorEvent } from "../reflector/reflector-event.ts";
import type { CacheChange } from "./cache-change.ts";
import type { Listing, Lookup } from "./lookup.ts";
import { ObjectIndex } from "./object-index.ts";
import { keyOf, objectKey } from "./object-key.ts";
import { shareStructure } from "./share-structure.ts";

/** Options of a {@link Cache}. */
export interface CacheOptions<T extends KubeObject, Index extends string = never>
  extends Pick<Observers, "log"> {
  /**
   * Functions that return the values under which an object is indexed, by the name of the index. If one throws, the
   * object is left out of that index, and the error is logged.
   */
  readonly indexes?: Readonly<Record<Index, (object: T) => readonly string[]>> | undefined;
  /** The one namespace that it is fed from; by default all. About other namespaces it answers `unknown`. */
  readonly namespace?: string | undefined;
}

/**
 * The objects of one resource as they were last seen, fed by a `Reflector`. The objects are shared by all callers
 * and share equal parts with each other, so nobody may change them. A part that has not changed is the same value
 * in the object's next version: `old.spec === object.spec`.
 *
 * @example
 * const cache = new Cache(pods, { indexes: { app: ({ metadata }) => [metadata.labels?.["app"] ?? ""] } });
 * void cache.follow(new Reflector(client, pods, { signal }));
 * await cache.synced({ signal });
 * const found = cache.get({ namespace: "default", name: "demo" });
 */
export class Cache<T extends KubeObject, Index extends string = never> {
  readonly resource: Resource<T>;
  readonly #namespace: string | undefined;
  readonly #log: Log;
  readonly #objects = new Map<string, T>();
  readonly #indexes: ReadonlyMap<string, ObjectIndex<T>>;
  readonly #listeners = new Set<(change: CacheChange<T>) => void>();
  readonly #onSynced = new Set<() => void>();
  #hasSynced = false;
  /** The object that came last; the next one may be like it. */
  #last: T | undefined;
  /** The keys of a snapshot that is not complete. */
  #snapshot: Set<string> | undefined;

  constructor(resource: Resource<T>, options: CacheOptions<T, Index> = {}) {
    this.resource = resource;
    this.#namespace = options.namespace;
    this.#log = options.log ?? silentLog;
    const indexes: [string, (object: T) => readonly string[]][] = Object.entries(
      options.indexes ?? {},
    );
    this.#indexes = new Map(
      indexes.map(([name, of]) => [
        name,
        new ObjectIndex((object) => this.#values(name, of, object)),
      ]),
    );
  }

  /**
   * Whether it has seen everything once. That does not change: later it may lag, and `Reflector.blindFor`
   * says by how much.
   */
  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  /** How many objects it has seen. */
  get size(): number {
    return this.#objects.size;
  }

  /** Resolves once {@link hasSynced}; rejects with the reason of the signal. */
  async synced({ signal }: { readonly signal?: AbortSignal | undefined } = {}): Promise<void> {
    signal?.throwIfAborted();
    if (this.#hasSynced) return;
    await new Promise<void>((resolve, reject) => {
      const done = (): void => {
        signal?.removeEventListener("abort", stop);
        resolve();
      };
      const stop = (): void => {
        this.#onSynced.delete(done);
        reject(signal?.reason);
      };
      this.#onSynced.add(done);
      signal?.addEventListener("abort", stop, { once: true });
    });
  }

  get(name: ObjectName): Lookup<T> {
    const object = this.#objects.get(objectKey(name));
    if (object !== undefined) return { state: "present", object };
    return { state: this.#knows(name.namespace) ? "absent" : "unknown" };
  }

  /** All objects, or those of one namespace. */
  list({ namespace }: { readonly namespace?: string | undefined } = {}): Listing<T> {
    const objects: T[] = [];
    for (const object of this.#objects.values()) {
      if (namespace === undefined || object.metadata.namespace === namespace) objects.push(object);
    }
    return this.#listing(objects, namespace);
  }

  /** The objects that have this value in an index. */
  byIndex(index: Index, value: string): Listing<T> {
    const objects: T[] = [];
    for (const key of this.#index(index).keys(value)) {
      const object = this.#objects.get(key);
      if (object !== undefined) objects.push(object);
    }
    return this.#listing(objects, undefined);
  }

  /**
   * Reports each change after it has been made, beginning with the existing objects. The listener must not
   * wait: the connection waits for it. What it throws is logged. Returns a function that ends the
   * subscription.
   */
  subscribe(listener: (change: CacheChange<T>) => void): () => void {
    for (const object of this.#objects.values()) this.#tell(listener, { type: "added", object });
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Takes in what a reflector reports until its signal ends it. */
  async follow(reflector: Reflector<T> | AsyncIterable<ReflectorEvent<T>>): Promise<void> {
    for await (const event of reflector) this.handle(event);
  }

  /** Takes in one event; see `ReflectorEvent` for their order. */
  handle(event: ReflectorEvent<T>): void {
    switch (event.type) {
      case "init":
        this.#snapshot = new Set();
        return;
      case "apply":
        this.#apply(event.object);
        return;
      case "delete":
        this.#delete(keyOf(event.object), event.object);
        return;
      case "initDone":
        this.#complete();
        return;
    }
  }

  #knows(namespace: string | undefined): boolean {
    return this.#hasSynced && (this.#namespace === undefined || this.#namespace === namespace);
  }

  #listing(objects: readonly T[], namespace: string | undefined): Listing<T> {
    // All objects of a cache of one namespace are all that it can be asked for.
    return this.#knows(namespace ?? this.#namespace)
      ? { state: "complete", objects }
      : { state: "incomplete", seen: objects };
  }

  #index(name: string): ObjectIndex<T> {
    const index = this.#indexes.get(name);
    if (index) return index;
    const known = [...this.#indexes.keys()].join(", ") || "none";
    throw new KubeError("KUBE_INPUT_INVALID", `no index "${name}"; this cache has: ${known}`, {
      path: "index",
    });
  }

  #values(index: string, of: (object: T) => readonly string[], object: T): readonly string[] {
    try {
      return of(object);
    } catch (error) {
      const details = { key: keyOf(object), index, error: describeError(error) };
      this.#log.error(details, "an object cannot be indexed");
      return [];
    }
  }

  #apply(applied: T): void {
    const key = keyOf(applied);
    this.#snapshot?.add(key);
    const old = this.#objects.get(key);
    // Half of the memory: objects of one kind have most of what they say in common.
    const object = shareStructure(applied, old ?? this.#last);
    this.#last = object;
    if (old === undefined) {
      this.#put(key, undefined, object);
      this.#changed({ type: "added", object });
    } else if (old.metadata.uid !== object.metadata.uid) {
      this.#put(key, old, undefined);
      this.#changed({ type: "deleted", old });
      this.#put(key, undefined, object);
      this.#changed({ type: "added", object });
    } else if (!isSameVersion(old, object)) {
      this.#put(key, old, object);
      this.#changed({ type: "updated", old, object });
    }
  }

  #delete(key: string, last: T | undefined): void {
    this.#snapshot?.delete(key);
    const old = this.#objects.get(key);
    if (old === undefined) return;
    this.#put(key, old, undefined);
    this.#changed({ type: "deleted", old: last ?? old });
  }

  #complete(): void {
    const snapshot = this.#snapshot ?? new Set();
    this.#snapshot = undefined;
    for (const key of [...this.#objects.keys()])
      if (!snapshot.has(key)) this.#delete(key, undefined);
    this.#hasSynced = true;
    for (const done of this.#onSynced) done();
    this.#onSynced.clear();
  }

  #put(key: string, old: T | undefined, object: T | undefined): void {
    if (object === undefined) this.#objects.delete(key);
    else this.#objects.set(key, object);
    for (const index of this.#indexes.values()) index.replace(key, old, object);
  }

  #changed(change: CacheChange<T>): void {
    for (const listener of this.#listeners) this.#tell(listener, change);
  }

  #tell(listener: (change: CacheChange<T>) => void, change: CacheChange<T>): void {
    try {
      listener(change);
    } catch (error) {
      const key = keyOf(change.type === "deleted" ? change.old : change.object);
      const details = { key, change: change.type, error: describeError(error) };
      this.#log.error(details, "a listener of a cache failed");
    }
  }
}

function isSameVersion(one: KubeObject, other: KubeObject): boolean {
  const version = one.metadata.resourceVersion;
  return version !== undefined && version === other.metadata.resourceVersion;
}
