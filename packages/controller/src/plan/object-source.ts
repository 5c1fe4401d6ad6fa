import type { ObjectName } from "@virtkit/kube";

/** What is known about one object. Until a cache has synced, an object that it lacks may exist. */
export type Known<T> =
  | { readonly state: "present"; readonly object: T }
  | { readonly state: "absent" | "unknown" };

/** What is known about several objects. */
export type KnownList<T> =
  | { readonly state: "complete"; readonly objects: readonly T[] }
  | { readonly state: "incomplete" };

/** The objects of one kind; a `Cache` of `@virtkit/kube/cache` is one. */
export interface ObjectSource<T, Index extends string = never> {
  get(name: ObjectName): Known<T>;
  list(options?: { readonly namespace?: string }): KnownList<T>;
  byIndex(index: Index, value: string): KnownList<T>;
}

/** Thrown while a view is being built, and caught where that began. */
class Unknown extends Error {}

/** The objects, once they are known; see {@link whenKnown}. */
export function known<T>(list: KnownList<T>): readonly T[] {
  if (list.state === "complete") return list.objects;
  throw new Unknown();
}

/** The object, if it exists, once that is known; see {@link whenKnown}. */
export function knownObject<T>(found: Known<T>): T | undefined {
  if (found.state === "unknown") throw new Unknown();
  return found.state === "present" ? found.object : undefined;
}

/**
 * The result of a function that asks through {@link known}; undefined while something that it asks
 * for is unknown.
 */
export function whenKnown<T>(ask: () => T): T | undefined {
  try {
    return ask();
  } catch (error) {
    // No need to report this: the caches signal when they have synced.
    if (error instanceof Unknown) return undefined;
    throw error;
  }
}
