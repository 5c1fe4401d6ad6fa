import type {
  VirtualMachineInstance,
  VirtualMachineInstanceMigrationState,
} from "@virtkit/api/schema";
import { isFinal, type PlannedEvent } from "@virtkit/api/status";
import { isDecentralized, isOver } from "../../migration-phase.ts";
import { guardVmi } from "../../policy/guard-vmi.ts";
import { isSource } from "./is-source.ts";
import { planSourceStep, type SourceFacts, type SourceStep } from "./plan-source-step.ts";
import { type SourceStatus, sourceStatus } from "./source-status.ts";

/** Everything that the source's node agent does about a migration in one pass. */
export interface SourcePass {
  /** For the launcher. The status is written whether it succeeds or not. */
  readonly step: SourceStep;
  /** What the VMI's status says about the migration, if that changes. */
  readonly migrationState?: VirtualMachineInstanceMigrationState;
  readonly isLost: boolean;
  readonly hasLeft: boolean;
  /** Whether the sockets that lead to the target can be closed. */
  readonly closeSockets: boolean;
  /** In addition to those of the step, which count once it has succeeded. */
  readonly events: readonly PlannedEvent[];
  /** Check again after this many seconds, even if nothing changes. */
  readonly requeueSeconds?: number;
}

/** What a pass depends on besides the VMI. */
export interface SourcePassFacts extends SourceFacts {
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * Plans a pass. A VMI that is gone, being deleted or final, a domain of an older VMI of that name, and a
 * migration of another node's are not this source's business.
 *
 * @throws MigrationError if the VMI or its options are not shaped as they must be.
 */
export function planSourcePass(
  vmi: VirtualMachineInstance | undefined,
  facts: SourcePassFacts,
): SourcePass {
  if (!vmi) return nothing("there is no VMI");
  return guardVmi(vmi, () => passFor(vmi, facts));
}

function passFor(vmi: VirtualMachineInstance, facts: SourcePassFacts): SourcePass {
  const state = vmi.status?.migrationState;
  if (hasEnded(vmi)) return nothing("the VMI has ended");
  const { vmiUid } = facts.domain ?? {};
  if (vmiUid !== undefined && vmiUid !== vmi.metadata?.uid) {
    return nothing("an older VMI with that name is still here");
  }
  if (!state) return nothing("the VMI has no migration");
  if (isOver(state)) {
    return { ...nothing("it is over"), closeSockets: true };
  }
  if (!isSource(vmi, facts.node)) return nothing("the VMI's migration starts on another node");
  const step = planSourceStep(vmi, facts);
  const status = sourceStatus(vmi, facts);
  return {
    step,
    ...(status && changed(status, state) && { migrationState: status.migrationState }),
    isLost: status?.isLost ?? false,
    hasLeft: status?.hasLeft ?? false,
    closeSockets: false,
    events: status?.events ?? [],
    ...requeue(step, status),
  };
}

function nothing(why: string): SourcePass {
  const idle = { isLost: false, hasLeft: false, closeSockets: false, events: [] };
  return { step: { step: "none", why }, ...idle };
}

/** A VMI whose guest moves to another cluster ends when it has arrived there, not before. */
function hasEnded(vmi: VirtualMachineInstance): boolean {
  if (vmi.metadata?.deletionTimestamp) return true;
  const { phase, migrationState } = vmi.status ?? {};
  if (migrationState && isDecentralized(migrationState)) return phase === "Succeeded";
  return isFinal(vmi);
}

function changed(
  { migrationState }: SourceStatus,
  before: VirtualMachineInstanceMigrationState,
): boolean {
  return JSON.stringify(sorted(migrationState)) !== JSON.stringify(sorted(before));
}

function sorted(state: object): readonly [string, unknown][] {
  // A missing value and false are the same.
  const set = Object.entries(state).filter(([, value]) => value !== undefined && value !== false);
  return set.sort(([one], [other]) => (one < other ? -1 : 1));
}

function requeue(
  step: SourceStep,
  status: SourceStatus | undefined,
): Pick<SourcePass, "requeueSeconds"> {
  const waits = [step.step === "wait" ? step.seconds : undefined, status?.requeueSeconds];
  const known = waits.filter((seconds) => seconds !== undefined);
  return known.length > 0 ? { requeueSeconds: Math.min(...known) } : {};
}
