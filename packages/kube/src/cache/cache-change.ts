/**
 * A change in a cache. If an object was replaced by another of the same name, it is `deleted`, and the other is
 * `added`.
 */
export type CacheChange<T> =
  | { readonly type: "added"; readonly object: T; readonly old?: undefined }
  | { readonly type: "updated"; readonly object: T; readonly old: T }
  /** `old` is the last state that was seen; if the end itself was missed, the object may have changed since. */
  | { readonly type: "deleted"; readonly object?: undefined; readonly old: T };
