import type { VirtualMachineInstance, VirtualMachineInstanceMigration } from "@virtkit/api/schema";
import { isSet, text } from "@virtkit/api/shape";

/** Phases before there is a target Pod. */
const early = ["", "WaitingForSync", "Synchronizing", "Pending"] as const;

/** The phase of a migration; empty for a new one. */
export function phaseOf({ status }: VirtualMachineInstanceMigration): string {
  return text(status?.phase);
}

/** Whether a migration has ended, successfully or not. */
export function isFinalMigration(migration: VirtualMachineInstanceMigration): boolean {
  return ["Succeeded", "Failed"].includes(phaseOf(migration));
}

/** Whether the phase of a migration alone makes it count against the limits. */
export function isUnderWay(migration: VirtualMachineInstanceMigration): boolean {
  const phase = phaseOf(migration);
  if (isFinalMigration(migration) || !hasTarget(phase)) return false;
  return phase !== "Scheduling" || !isSender(migration);
}

/** Whether there must be a target Pod in this phase. */
export function hasTarget(phase: string): boolean {
  return !early.some((each) => each === phase);
}

/** Whether the node agents have been told about the migration in this phase. */
export function isHandedOffPhase(phase: string): boolean {
  return hasTarget(phase) && phase !== "Scheduling" && phase !== "Scheduled";
}

/** Whether the guest moves to or from another cluster or namespace. */
export function isDecentralized({ spec }: VirtualMachineInstanceMigration): boolean {
  return isSet(spec?.sendTo) !== isSet(spec?.receive);
}

/** Whether the guest leaves this cluster or namespace. */
export function isSender(migration: VirtualMachineInstanceMigration): boolean {
  return isDecentralized(migration) && isSet(migration.spec?.sendTo);
}

/** Whether the guest comes from another cluster or namespace. */
export function isReceiver(migration: VirtualMachineInstanceMigration): boolean {
  return isDecentralized(migration) && isSet(migration.spec?.receive);
}

/** Whether this cluster creates the target Pod: the guest stays in this cluster or moves to it. */
export function isTargetHere(migration: VirtualMachineInstanceMigration): boolean {
  return !isSender(migration);
}

/** Whether both sides know each other: within a cluster, once the VMI has a migration state. */
export function isSynchronized(
  { status }: VirtualMachineInstance,
  migration: VirtualMachineInstanceMigration,
): boolean {
  const state = status?.migrationState;
  if (!isDecentralized(migration)) return isSet(state);
  return Boolean(state?.sourceState?.migrationUID && state.targetState?.migrationUID);
}

/** Whether a source in another cluster has provided everything that the target needs. */
export function isSourceSynchronized({ status }: VirtualMachineInstance): boolean {
  const { sourceState, targetState } = status?.migrationState ?? {};
  return Boolean(
    targetState &&
      sourceState?.migrationUID &&
      sourceState.pod &&
      sourceState.nodeSelectors &&
      sourceState.node,
  );
}

/** Whether the VMI's migration state belongs to this migration. */
export function isStateOf(
  vmi: VirtualMachineInstance,
  migration: VirtualMachineInstanceMigration,
): boolean {
  if (!isSynchronized(vmi, migration)) return false;
  return text(vmi.status?.migrationState?.migrationUid) === text(migration.metadata?.uid);
}

/** Whether a target node is set, so that its agent prepares it. */
export function isTargetPreparing(
  vmi: VirtualMachineInstance,
  migration: VirtualMachineInstanceMigration,
): boolean {
  const state = vmi.status?.migrationState;
  if (isDecentralized(migration)) {
    const { pod, node } = state?.targetState ?? {};
    return isSynchronized(vmi, migration) && Boolean(pod && node);
  }
  return isStateOf(vmi, migration) && Boolean(state?.targetNode);
}

/** Whether the guest has left for another cluster. */
export function hasLeft({ status }: VirtualMachineInstance): boolean {
  const target = status?.migrationState?.targetState;
  return isSet(target?.syncAddress) && isSet(target.nodeAddress);
}
