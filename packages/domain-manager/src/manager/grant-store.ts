import type { Grant, ReadGrant } from "@virtkit/api/grant";

/** A stored grant, with what the store needs to recognize it. */
export interface StoredGrant<Version = unknown> {
  readonly grant: ReadGrant;
  readonly version: Version;
}

/** Options of a store's calls. */
export interface GrantStoreOptions {
  /** Ends the wait at once. */
  readonly signal?: AbortSignal | undefined;
}

/** Where a run grant is kept: an object's annotation, or a file. */
export interface GrantStore<Version = unknown> {
  /** A live read, never a cache. */
  read(options?: GrantStoreOptions): Promise<StoredGrant<Version>>;
  /**
   * Replaces what was read with `next`; false if it has changed meanwhile. Throws if that is unknown: then
   * the write may still take effect, and only a read shows whether it has.
   */
  swap(expected: StoredGrant<Version>, next: Grant, options?: GrantStoreOptions): Promise<boolean>;
}
