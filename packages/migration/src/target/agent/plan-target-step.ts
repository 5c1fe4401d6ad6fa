import { type Names, names } from "@virtkit/api/names";
import type {
  VirtualMachineInstance,
  VirtualMachineInstanceMigrationState,
} from "@virtkit/api/schema";
import { isSet } from "@virtkit/api/shape";
import { isFinal, type PlannedEvent } from "@virtkit/api/status";
import type { MigratingDomain } from "../../migrating-domain.ts";
import { isDecentralized, isOver, isRunning } from "../../migration-phase.ts";
import { guardVmi } from "../../policy/guard-vmi.ts";
import { isActive } from "./is-active.ts";
import { type AbortOutcome, settleAbort } from "./settle-abort.ts";

/** What the target's node agent does next about a migration. */
export type TargetStep =
  | { readonly step: "none"; readonly why: string }
  | { readonly step: "wait"; readonly why: string; readonly seconds: number }
  /** The VMI has ended: undo what was prepared, as far as it got. */
  | { readonly step: "undo" }
  /** The cache knows the domain of an older VMI with that name: forget it. */
  | { readonly step: "forget-domain" }
  /** Sandbox, disks, network, the launcher's own preparations, then listen. */
  | { readonly step: "prepare" }
  /** The guest has arrived: apply pending changes, and complete the migration. */
  | { readonly step: "finalize" }
  /** It is over. After a failure, the launcher ends and what was prepared is undone. */
  | { readonly step: "clean-up"; readonly failed: boolean };

/** A step, and the VMI as it is when the step begins. */
export interface TargetPlan {
  readonly step: TargetStep;
  readonly vmi?: VirtualMachineInstance;
  readonly events: readonly PlannedEvent[];
}

/** What the step depends on besides the VMI. */
export interface TargetFacts {
  readonly node: string;
  /** `undefined` if there is none. */
  readonly domain: MigratingDomain | undefined;
  /** Whether the sockets for this migration are open. */
  readonly isListening: boolean;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly names?: Names;
}

/**
 * What the node agent of the target does next about the migration in a VMI's status. The VMI that comes with
 * it contains what is known about an abort and about a copy that never ran.
 *
 * @throws MigrationError if the VMI is not shaped like one.
 */
export function planTargetStep(
  vmi: VirtualMachineInstance | undefined,
  facts: TargetFacts,
): TargetPlan {
  if (!vmi) return plan(none("there is no VMI"));
  return guardVmi(vmi, () => stepFor(vmi, facts));
}

function stepFor(vmi: VirtualMachineInstance, facts: TargetFacts): TargetPlan {
  const { domain } = facts;
  if (isFinal(vmi) || vmi.metadata?.deletionTimestamp) return plan({ step: "undo" });
  if (domain?.vmiUid && domain.vmiUid !== vmi.metadata?.uid) return plan({ step: "forget-domain" });
  const state = vmi.status?.migrationState;
  const obstacle = obstacleTo(vmi, facts);
  if (obstacle !== undefined || !state) return plan(none(obstacle ?? ""));
  const settled = settleAbort(state, domain);
  const next = withState(vmi, unlessArrived(settled.state, domain));
  return { ...stepAfterAbort(next, settled, facts), events: settled.events };
}

/** Why nothing is done. */
function obstacleTo(vmi: VirtualMachineInstance, facts: TargetFacts): string | undefined {
  const { node, domain, names: { labels } = names() } = facts;
  const state = vmi.status?.migrationState;
  const isDead = domain && ["Shutoff", "Crashed", ""].includes(domain.state);
  if (isDead && !(state && endsWithoutGuest(state))) return "the guest does not run here";
  if (!state) return "the VMI has no migration";
  const isOurs = vmi.metadata?.labels?.[labels.migrationTargetNodeName] === node;
  return isOurs ? undefined : "the VMI's migration goes to another node";
}

/** An abort, and the end of a move between clusters, must be settled even if the copy is dead. */
function endsWithoutGuest(state: VirtualMachineInstanceMigrationState): boolean {
  return isAborting(state) || (isDecentralized(state) && isOver(state));
}

function isAborting(state: VirtualMachineInstanceMigrationState): boolean {
  return state.abortRequested === true && !isOver(state);
}

/** A migration that ended without a running copy has failed, whatever its source says. */
function unlessArrived(
  state: VirtualMachineInstanceMigrationState,
  domain: MigratingDomain | undefined,
): VirtualMachineInstanceMigrationState {
  const ends = hasEnded(state) && !isOver(state);
  return ends && !isActive(domain) ? { ...state, failed: true, completed: true } : state;
}

function hasEnded({ startTimestamp, endTimestamp }: VirtualMachineInstanceMigrationState): boolean {
  return isSet(startTimestamp) && isSet(endTimestamp);
}

function stepAfterAbort(
  vmi: VirtualMachineInstance,
  settled: AbortOutcome,
  facts: TargetFacts,
): Omit<TargetPlan, "events"> {
  const { state } = settled;
  if (isOver(state)) return { step: cleanUp(vmi, state, facts.domain), vmi };
  const known = vmi.status?.migrationState ?? state;
  if (hasEnded(known) && !isOver(known)) return { step: { step: "finalize" }, vmi };
  const isAborted = isAborting(known) && !isDecentralized(known);
  if (facts.isListening && !isAborted) {
    const why = "it is prepared";
    const step = settled.waits ? wait("the source has not ended it yet") : none(why);
    return { step, vmi };
  }
  const waits = waitsForSource(vmi, known, facts);
  if (waits !== undefined) return { step: wait(waits), vmi };
  const ready = vmi.status?.phase === "WaitingForSync" ? withoutStart(vmi, known) : vmi;
  const isMoving = isRunning(ready.status?.migrationState ?? {}, facts.now);
  return { step: isMoving ? none("it is under way") : { step: "prepare" }, vmi: ready };
}

/** Only this copy shows how far a broken post-copy has come; it stays until somebody has handled it. */
function cleanUp(
  { status }: VirtualMachineInstance,
  state: VirtualMachineInstanceMigrationState,
  domain: MigratingDomain | undefined,
): TargetStep {
  const isBroken = domain?.state === "Paused" && domain.reason === "PostcopyFailed";
  if (isBroken && status?.phase === "Running") return wait("post-copy is broken");
  return { step: "clean-up", failed: state.failed === true };
}

/** Between clusters, the source's part of the status arrives later. */
function waitsForSource(
  { metadata, status }: VirtualMachineInstance,
  { sourceState }: VirtualMachineInstanceMigrationState,
  { names: { annotations } = names() }: TargetFacts,
): string | undefined {
  if (metadata?.annotations?.[annotations.createMigrationTarget] !== "true") return undefined;
  if (!sourceState) return "the source's state is not known yet";
  return status?.migrationTransport ? undefined : "the transport is not known yet";
}

function withoutStart(
  vmi: VirtualMachineInstance,
  { startTimestamp: _, ...state }: VirtualMachineInstanceMigrationState,
): VirtualMachineInstance {
  return withState(vmi, state);
}

function withState(
  vmi: VirtualMachineInstance,
  migrationState: VirtualMachineInstanceMigrationState,
): VirtualMachineInstance {
  return { ...vmi, status: { ...vmi.status, migrationState } };
}

const plan = (step: TargetStep): TargetPlan => ({ step, events: [] });
const none = (why: string): TargetStep => ({ step: "none", why });
const wait = (why: string): TargetStep => ({ step: "wait", why, seconds: 1 });
