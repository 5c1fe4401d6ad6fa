import type { Sealed } from "./sealed.ts";

/** A file on a medium that is created for the guest. */
export interface MediaFile {
  /** Below the root of the medium, such as `openstack/latest/user_data`. */
  readonly path: string;
  readonly content: Sealed<Uint8Array>;
  /** Permissions as the guest sees them. Default `0o444`. */
  readonly mode?: number;
}

/** The content of a medium, before it is written as an ISO image. */
export interface Media {
  /** Name by which the guest finds it, such as `cidata`. */
  readonly label: string;
  readonly files: readonly MediaFile[];
}
