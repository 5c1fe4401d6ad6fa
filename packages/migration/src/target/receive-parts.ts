import type { Observers } from "@virtkit/api/observe";
import type { Caller } from "../copy/copy-state.ts";
import type { MigrationIdentity, SourceEnd } from "../handover/index.ts";
import type { ReceiveFile } from "./receive-file.ts";
import type { TargetGrant } from "./receive-grant.ts";

/** The moments at which a test can hold a target, look, or break something. */
export type TargetSeam =
  `${"prepare" | "finish" | "release" | "resume" | "claim"}.${"before" | "after"}`;

/** What a target works with: connections of its own, the other side, and where it writes. */
export interface TargetParts extends Observers {
  /** The connection that calls *prepare*: libvirt ends an unfinished copy when it goes. */
  readonly libvirt: Caller;
  /** Another one that is already open, for the resume. */
  readonly resume: Caller;
  readonly domain: { readonly name: string; readonly uuid: string };
  /** The migration that this launcher was made for; all others are refused. */
  readonly migration: MigrationIdentity;
  /** Where the target's QEMU listens, as `unix:///path`. The source has no say in it. */
  readonly listen: string;
  /** Whether the source must have its QEMU encrypt what it sends, or must not. By default it chooses. */
  readonly encrypted?: boolean | undefined;
  /** The disks whose content this target takes from the source, and where its QEMU listens for it. By default none. */
  readonly copied?: { readonly disks: readonly string[]; readonly listen: string } | undefined;
  /**
   * The domain with which this target receives the guest, from what the source sent: see `destinationXml`. By
   * default it is the source's, which only a source of one's own may be trusted with.
   */
  readonly destinationXml?: ((sourceXml: string) => string | Promise<string>) | undefined;
  readonly file: ReceiveFile;
  readonly grant: TargetGrant;
  /** Asks the source how it decided. */
  readonly source: SourceEnd;
  readonly at?: (seam: TargetSeam) => Promise<void> | void;
}
