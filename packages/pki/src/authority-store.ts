/** What a store holds, and the revision that a swap must name. */
export interface StoredAuthorities {
  readonly content: string;
  readonly revision: string;
}

/**
 * Where the authorities of a trust domain are kept, keys included: files here, a Secret in a cluster. Several processes
 * may use one at the same time; the swap is what makes them agree.
 */
export interface AuthorityStore {
  /** Undefined where nothing was ever stored. */
  read(): Promise<StoredAuthorities | undefined>;
  /**
   * Stores a content in place of the revision that was read, or where nothing was (undefined).
   *
   * @returns false where it is no longer that revision; then nothing has changed
   */
  swap(content: string, revision: string | undefined): Promise<boolean>;
}
