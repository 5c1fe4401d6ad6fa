/**
 * What is known about one object. The `unknown` answer is the reason for this type: before a cache has seen
 * everything, an object that it has not seen may well exist, and nothing may be created or destroyed because it was
 * not seen.
 */
export type Lookup<T> =
  | { readonly state: "present"; readonly object: T }
  /** It did not exist when the server was last heard. Before you do what cannot be undone, ask with `liveRead`. */
  | { readonly state: "absent" }
  /** Nobody knows yet: the cache has not synced, or it does not watch that namespace. */
  | { readonly state: "unknown" };

/** What is known about several objects. */
export type Listing<T> =
  | { readonly state: "complete"; readonly objects: readonly T[] }
  /** There may be more: the cache has not synced, or it does not watch that namespace. */
  | { readonly state: "incomplete"; readonly seen: readonly T[] };
