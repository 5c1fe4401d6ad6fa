import type { Flag } from "@virtkit/domain-manager/libvirt";
import { compressionOf } from "./compression.ts";
import type { MigrationOptions } from "./migration-options.ts";

/** A flag of libvirt's migration calls. */
export type MigrateFlag = Flag<"migrate">;

/** What the flags depend on besides the options. */
export interface FlaggedGuest {
  /** Whether disks are copied along. */
  readonly blockMigration: boolean;
  /** Whether its user has paused it. */
  readonly paused: boolean;
}

/** The flags of the single call by which KubeVirt migrates, in the order of their numbers. */
export function singleCallFlags(
  options: MigrationOptions,
  { blockMigration, paused }: FlaggedGuest,
): readonly MigrateFlag[] {
  const flags: readonly (readonly [MigrateFlag, boolean])[] = [
    ["live", true],
    ["peerToPeer", true],
    ["persistDestination", true],
    ["paused", paused],
    ["nonSharedIncremental", blockMigration],
    ["unsafe", options.unsafe],
    ["compressed", compressionOf(options) !== undefined],
    ["autoConverge", options.allowAutoConverge],
    ["postcopy", options.allowPostCopy],
    ["parallel", options.parallelThreads !== undefined],
  ];
  return flags.filter(([, isSet]) => isSet).map(([flag]) => flag);
}

/** The flags of libvirt's five phases. */
export interface PhaseFlags {
  /** For *begin*, *prepare*, *perform* and *confirm*. */
  readonly flags: readonly MigrateFlag[];
  /** For *finish*: the target ends complete and paused, and only a release resumes it. */
  readonly finish: readonly MigrateFlag[];
  /** For *finish* after the switch to post-copy, where the target must run to get its memory. */
  readonly finishAfterPostcopy: readonly MigrateFlag[];
}

/**
 * The only step in which we differ from KubeVirt: the flags of its single call become those of five phases
 * that the source's launcher drives itself. Peer to peer, a lost reply to *finish* leaves two running copies;
 * so that flag goes. Changes to the domain are locked out between the phases, since no daemon holds the job
 * for us. `paused` moves to *finish*, where every target stops: libvirt refuses it beside `postcopy` in
 * earlier phases.
 */
export function phaseFlags(
  singleCall: readonly MigrateFlag[],
  { tls }: { readonly tls: boolean },
): PhaseFlags {
  const kept = singleCall.filter((flag) => flag !== "peerToPeer" && flag !== "paused");
  const flags: readonly MigrateFlag[] = [
    ...kept,
    "changeProtection",
    ...(tls ? (["tls"] as const) : []),
  ];
  return { flags, finish: [...flags, "paused"], finishAfterPostcopy: flags };
}
