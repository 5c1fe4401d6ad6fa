import type { Observers } from "@virtkit/api/observe";
import type { Flag, ParameterArguments } from "@virtkit/domain-manager/libvirt";
import type { Caller } from "../copy/copy-state.ts";
import type { DecisionFile, MigrationIdentity, TargetEnd } from "../handover/index.ts";
import type { HandoverGrant } from "./drive-grant.ts";

/** The moments at which a test can hold a source, inspect it, or break something. */
export type SourceSeam =
  | `${"begin" | "prepare" | "perform" | "finish" | "decision" | "release" | "confirm"}.${"before" | "after"}`
  | `${"commit" | "switch"}.${"before" | "after"}`;

/** Waits at a seam. Production has none. */
export type AtSeam<Seam extends string> = (seam: Seam) => Promise<void> | void;

/** How a guest moves: the plan of a migration in libvirt's terms. */
export interface DrivePlan {
  /** For all phases; `paused` is added to *finish* where needed. */
  readonly flags: readonly Flag<"migrate">[];
  /** For *begin* and *perform*. Only the plan sets `migrate_uri`, where the source's QEMU connects. */
  readonly params: ParameterArguments<"migration">;
  /** The domain that the target should have, from the source's. Default: the same. */
  readonly destinationXml?: (xml: string) => string;
}

/** What a source works with: its own connections, the other side, and where it writes. */
export interface SourceParts extends Observers {
  /** A connection that no long call occupies: for queries, aborts, the switch, and what an earlier process left. */
  readonly libvirt: Caller;
  /** UUID of the domain. */
  readonly domain: string;
  readonly migration: MigrationIdentity;
  readonly decision: DecisionFile;
  readonly target: TargetEnd;
  readonly grant: HandoverGrant;
  readonly at?: AtSeam<SourceSeam>;
  /** Milliseconds for each call during which the guest is paused. Default 10 s. */
  readonly patience?: number;
}

/** Milliseconds that a stopped guest waits for one answer. */
export const defaultPatience = 10_000;
