import type { VirtualMachineInstance, VirtualMachineInstanceMigration } from "@virtkit/api/schema";
import { isSet, text } from "@virtkit/api/shape";

/** Phases before there is a target Pod. */
const early = ["", "WaitingForSync", "Synchronizing", "Pending"] as const;

/** The phase of a migration; empty for one that nobody has looked at. */
export function phaseOf({ status }: VirtualMachineInstanceMigration): string {
  return text(status?.phase);
}

/** Whether a migration has ended, successfully or not. */
export function isFinalMigration(migration: VirtualMachineInstanceMigration): boolean {
  return ["Succeeded", "Failed"].includes(phaseOf(migration));
}

/** Whether a migration counts against the limits by its phase alone. */
export function isUnderWay(migration: VirtualMachineInstanceMigration): boolean {
  const phase = phaseOf(migration);
  if (isFinalMigration(migration) || !hasTarget(phase)) return false;
  return phase !== "Scheduling" || !isSender(migration);
}

/** Whether there must be a target Pod in a phase. */
export function hasTarget(phase: string): boolean {
  return !early.some((each) => each === phase);
}

/** Whether the node agents have been told of the migration in a phase. */
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

/** Whether this cluster makes the target Pod: the guest stays in it, or comes to it. */
export function isTargetHere(migration: VirtualMachineInstanceMigration): boolean {
  return !isSender(migration);
}

/** Whether both sides know of each other: within a cluster as soon as the VMI has a migration's state. */
export function isSynchronized(
  { status }: VirtualMachineInstance,
  migration: VirtualMachineInstanceMigration,
): boolean {
  const state = status?.migrationState;
  if (!isDecentralized(migration)) return isSet(state);
  return Boolean(state?.sourceState?.migrationUID && state.targetState?.migrationUID);
}

/** Whether a source in another cluster has said all that the target needs. */
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

/** Whether the VMI's state is that of this very migration. */
export function isStateOf(
  vmi: VirtualMachineInstance,
  migration: VirtualMachineInstanceMigration,
): boolean {
  if (!isSynchronized(vmi, migration)) return false;
  return text(vmi.status?.migrationState?.migrationUid) === text(migration.metadata?.uid);
}

/** Whether a target node is named, which its agent then prepares. */
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
