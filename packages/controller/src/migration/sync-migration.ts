import { isRunning } from "@virtkit/api/status";
import type { PlanError } from "../plan/plan.ts";
import type { PodObject } from "../vmi/cluster-objects.ts";
import { isBeingDeleted, isDown, isReady } from "../vmi/pod-state.ts";
import { askForAbort } from "./ask-for-abort.ts";
import { attachVolumes } from "./attach-volumes.ts";
import { isBackingOff } from "./back-off.ts";
import { beginReceiving, beginSending, describeSource } from "./between-clusters.ts";
import { cancelTarget, deleteTarget } from "./cancel-target.ts";
import { createTarget } from "./create-target.ts";
import { failedPass } from "./failed-pass.ts";
import { grantHandover } from "./grant-handover.ts";
import { handOff, isHandedOff } from "./hand-off.ts";
import { markFailed } from "./mark-failed.ts";
import { mayMove } from "./may-move.ts";
import type { MigrationPass } from "./migration-pass.ts";
import { isSender, isStateOf, isSynchronized, isTargetHere, phaseOf } from "./migration-phase.ts";
import { watchPendingPod } from "./pending-pod.ts";

/** Does what the migration needs in its phase, or returns why that is not possible. */
export function syncMigration(pass: MigrationPass): PlanError | undefined {
  const { vmi, migration } = pass;
  if (vmi.metadata?.deletionTimestamp) return undefined;
  const unused = unusedTarget(pass);
  if (unused) return deleteTarget(pass, unused, "the migration has failed");
  if (isStateOf(vmi, migration) && vmi.status?.migrationState?.completed) return undefined;
  if (!mayMove(pass)) return failedPass("another migration is moving the VMI");
  switch (phaseOf(migration)) {
    case "":
      return syncUnshown(pass);
    case "Pending":
      return pass.isCancelled ? cancelTarget(pass) : syncPending(pass);
    case "Scheduling":
      return pass.isCancelled ? cancelTarget(pass) : syncScheduling(pass);
    case "Scheduled":
      return syncScheduled(pass);
    case "PreparingTarget":
    case "TargetReady":
      return syncPrepared(pass);
    case "Running":
      return pass.isCancelled && isSynchronized(vmi, migration) ? askForAbort(pass) : undefined;
    case "Failed":
      return syncFailed(pass);
    case "WaitingForSync":
      return beginReceiving(pass);
    case "Synchronizing":
      return beginSending(pass);
    default:
      return undefined;
  }
}

/** If not every phase is shown, the target may exist before the first phase is. */
function syncUnshown(pass: MigrationPass): PlanError | undefined {
  const isStarted = !pass.isStepwise && pass.targetPod !== undefined;
  return isStarted && pass.isCancelled ? cancelTarget(pass) : undefined;
}

function syncPending(pass: MigrationPass): PlanError | undefined {
  const { vmi, migration, targetPod } = pass;
  const hasUtilityVolumes = (vmi.spec.utilityVolumes ?? []).length > 0;
  if (isBackingOff(pass) || hasUtilityVolumes || !isTargetHere(migration)) return undefined;
  if (!targetPod) return createTarget(pass);
  return isReady(targetPod) ? attachVolumes(pass, targetPod) : watchPendingPod(pass, targetPod);
}

function syncScheduling(pass: MigrationPass): PlanError | undefined {
  const { migration, vmi, targetPod } = pass;
  if (isSender(migration) && isRunning(vmi)) {
    const failure = describeSource(pass);
    if (failure) return failure;
  }
  return targetPod && watchPendingPod(pass, targetPod);
}

function syncScheduled(pass: MigrationPass): PlanError | undefined {
  if (pass.isCancelled && !isHandedOff(pass)) return cancelTarget(pass);
  const { targetPod } = pass;
  return targetPod && isReady(targetPod) ? handOff(pass, targetPod) : undefined;
}

/**
 * A target Pod that is gone before the guest began to move must be reported here: no node agent
 * will.
 */
function syncPrepared(pass: MigrationPass): PlanError | undefined {
  const { vmi, migration, targetPod } = pass;
  if (!isTargetHere(migration) || !isStateOf(vmi, migration)) return undefined;
  if (targetPod && !isDown(targetPod)) return grantHandover(pass, targetPod);
  const { startTimestamp, completed } = vmi.status?.migrationState ?? {};
  return startTimestamp || completed || isMarkedFailed(pass) ? undefined : markFailed(pass);
}

function syncFailed(pass: MigrationPass): PlanError | undefined {
  const { vmi, migration } = pass;
  const isTold = isTargetHere(migration) && isStateOf(vmi, migration);
  return isTold && !isMarkedFailed(pass) ? markFailed(pass) : undefined;
}

/**
 * The target Pod of a migration that failed before the node agents knew of it, or that the VMI no longer shows: no agent
 * ends it, and the next migration waits until it is gone. KubeVirt leaves it there.
 */
function unusedTarget(pass: MigrationPass): PodObject | undefined {
  const { targetPod: pod, migration, grant } = pass;
  if (!grant || !pod || phaseOf(migration) !== "Failed" || isHandedOff(pass)) return undefined;
  // The guest may have arrived after all.
  const { read } = grant;
  const hasGuest = read.state === "Claimed" && read.holder.podUID === pod.metadata?.uid;
  return hasGuest || isDown(pod) || isBeingDeleted(pod) ? undefined : pod;
}

function isMarkedFailed({ vmi }: MigrationPass): boolean {
  return vmi.status?.migrationState?.failed === true;
}
