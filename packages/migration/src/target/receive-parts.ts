import type { Observers } from "@virtkit/api/observe";
import type { Caller } from "../copy/copy-state.ts";
import type { MigrationIdentity, SourceEnd } from "../handover/index.ts";
import type { ReceiveFile } from "./receive-file.ts";
import type { TargetGrant } from "./receive-grant.ts";

/** The moments at which a test can hold a target, inspect it, or break something. */
export type TargetSeam =
  `${"prepare" | "finish" | "release" | "resume" | "claim"}.${"before" | "after"}`;

/** What a target works with: its own connections, the other side, and where it writes. */
export interface TargetParts extends Observers {
  /** The connection that calls *prepare*: libvirt ends an unfinished copy when it closes. */
  readonly libvirt: Caller;
  /** Another connection that is already open, for the resume. */
  readonly resume: Caller;
  readonly domain: { readonly name: string; readonly uuid: string };
  /** The migration that this launcher was created for; all others are rejected. */
  readonly migration: MigrationIdentity;
  /** Where the target's QEMU listens, such as `unix:///path`. The source has no say in it. */
  readonly listen: string;
  /** Whether the source's QEMU must encrypt what it sends, or must not. By default, the source chooses. */
  readonly encrypted?: boolean | undefined;
  /**
   * The disks whose content this target accepts from the source, and where its QEMU listens for it. Default: none.
   */
  readonly copied?: { readonly disks: readonly string[]; readonly listen: string } | undefined;
  /**
   * The domain with which this target receives the guest, from what the source sent: see `destinationXml`. By
   * default it is the source's, which is safe only if the source is trusted.
   */
  readonly destinationXml?: ((sourceXml: string) => string | Promise<string>) | undefined;
  readonly file: ReceiveFile;
  readonly grant: TargetGrant;
  /** Asks the source for its decision. */
  readonly source: SourceEnd;
  readonly at?: (seam: TargetSeam) => Promise<void> | void;
}
