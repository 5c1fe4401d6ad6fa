import type { Grant, ReadGrant } from "@virtkit/api/grant";
import type { CallOptions } from "../libvirt/rpc/pending-call.ts";

/** A grant as a store has it, with what the store needs to know it again. */
export interface StoredGrant<Version = unknown> {
  readonly grant: ReadGrant;
  readonly version: Version;
}

/** Options of a store's calls. */
export type GrantStoreOptions = Pick<CallOptions, "signal">;

/** Where a run grant is kept: an object's annotation, or a file. */
export interface GrantStore<Version = unknown> {
  /** A live read, never a cache. */
  read(options?: GrantStoreOptions): Promise<StoredGrant<Version>>;
  /**
   * Puts `next` in the place of what was read; false where something else stands there by now. Throws
   * where it cannot tell: then the write may still land, and only a read shows whether it has.
   */
  swap(expected: StoredGrant<Version>, next: Grant, options?: GrantStoreOptions): Promise<boolean>;
}
