/** The content of a store, and the revision that a swap must name. */
export interface StoredAuthorities {
  readonly content: string;
  readonly revision: string;
}

/**
 * Where the authorities of a trust domain are kept, including keys: files here, a Secret in a cluster. Several
 * processes may use one at the same time; the swap makes them agree.
 */
export interface AuthorityStore {
  /** Undefined if nothing was ever stored. */
  read(): Promise<StoredAuthorities | undefined>;
  /**
   * Stores content in place of the revision that was read, or as the first content (undefined).
   *
   * @returns false if that is no longer the present revision; then nothing has changed
   */
  swap(content: string, revision: string | undefined): Promise<boolean>;
}
