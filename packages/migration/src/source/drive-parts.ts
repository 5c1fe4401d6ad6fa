import type { Observers } from "@virtkit/api/observe";
import type { Flag, ParameterArguments } from "@virtkit/domain-manager/libvirt";
import type { Caller } from "../copy/copy-state.ts";
import type { DecisionFile, MigrationIdentity, TargetEnd } from "../handover/index.ts";
import type { HandoverGrant } from "./drive-grant.ts";

/** The moments at which a test can hold a source, look, or break something. */
export type SourceSeam =
  | `${"begin" | "prepare" | "perform" | "finish" | "decision" | "release" | "confirm"}.${"before" | "after"}`
  | `${"commit" | "switch"}.${"before" | "after"}`;

/** Waits at a seam. Production has none. */
export type AtSeam<Seam extends string> = (seam: Seam) => Promise<void> | void;

/** How a guest moves: what the plan of a migration says, in libvirt's words. */
export interface DrivePlan {
  /** Of all phases; `paused` is added to *finish* where it belongs. */
  readonly flags: readonly Flag<"migrate">[];
  /** Of *begin* and *perform*. `migrate_uri` is where the source's QEMU connects to, by the plan alone. */
  readonly params: ParameterArguments<"migration">;
  /** The domain as the target is to have it, from the source's. The same by default. */
  readonly destinationXml?: (xml: string) => string;
}

/** What a source works with: connections of its own, the other side, and where it writes. */
export interface SourceParts extends Observers {
  /** A connection that no long call holds: for looks, aborts, the switch, and what an earlier life left. */
  readonly libvirt: Caller;
  /** UUID of the domain. */
  readonly domain: string;
  readonly migration: MigrationIdentity;
  readonly decision: DecisionFile;
  readonly target: TargetEnd;
  readonly grant: HandoverGrant;
  readonly at?: AtSeam<SourceSeam>;
  /** Milliseconds for each call that the guest stands still for. Default 10 s. */
  readonly patience?: number;
}

/** Milliseconds that a stopped guest waits for one answer. */
export const defaultPatience = 10_000;
