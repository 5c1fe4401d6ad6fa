import { entry, isSet } from "@virtkit/api/shape";
import { conditionsOf, findCondition, hasCondition, isRunning } from "@virtkit/api/status";
import { needsStateClaim } from "@virtkit/launcher-pod/traits";
import { apiError } from "../plan/api-error.ts";
import { jsonPointer } from "../plan/json-pointer.ts";
import type { PlanError } from "../plan/plan.ts";
import { podResource } from "../plan/resources.ts";
import { arrivalOf, isArrivalJoined } from "../vmi/arrival.ts";
import { isReady } from "../vmi/pod-state.ts";
import { podName } from "../vmi/pod-writes.ts";
import { hasAttachedVolumes } from "./attach-volumes.ts";
import { listCopiedVolumes } from "./between-clusters.ts";
import { isBlocked } from "./blockers.ts";
import { failMigration } from "./fail-migration.ts";
import { isHandoverGranted } from "./grant-handover.ts";
import { mayMove } from "./may-move.ts";
import type { MigrationPass } from "./migration-pass.ts";
import {
  isReceiver,
  isSender,
  isSourceSynchronized,
  isSynchronized,
  isTargetHere,
  isTargetPreparing,
  phaseOf,
} from "./migration-phase.ts";
import { moveState } from "./target-state.ts";

/** Moves the migration on to the phase that it has reached. */
export function advance(pass: MigrationPass): PlanError | undefined {
  switch (phaseOf(pass.migration)) {
    case "":
      return begin(pass);
    case "WaitingForSync":
      return reach(pass, "Pending", isSourceSynchronized(pass.vmi));
    case "Synchronizing":
      return reach(pass, "Pending", isSynchronized(pass.vmi, pass.migration));
    case "Pending":
      return schedule(pass);
    case "Scheduling":
      return finishScheduling(pass);
    case "Scheduled":
      return reach(pass, "PreparingTarget", isTargetPreparing(pass.vmi, pass.migration));
    case "PreparingTarget":
      return reach(pass, "TargetReady", isTargetReady(pass));
    case "TargetReady":
      return reach(pass, "Running", isSet(pass.vmi.status?.migrationState?.startTimestamp));
    case "Running":
      return complete(pass);
    default:
      return undefined;
  }
}

function reach(
  pass: MigrationPass,
  phase: NonNullable<MigrationPass["status"]["phase"]>,
  isReached: boolean,
): undefined {
  if (isReached) pass.status = { ...pass.status, phase };
}

function begin(pass: MigrationPass): PlanError | undefined {
  if (!mayMove(pass)) return failMigration(pass, "another migration is moving the VMI");
  if (isReceiver(pass.migration)) return reach(pass, "WaitingForSync", true);
  return reach(pass, isSender(pass.migration) ? "Synchronizing" : "Pending", true);
}

const overQuota = "migrationRejectedByResourceQuota";

function schedule(pass: MigrationPass): PlanError | undefined {
  const blocked = isBlocked(pass);
  if (blocked) return blocked === true ? undefined : blocked;
  const { targetPod, vmi } = pass;
  if (!isTargetHere(pass.migration)) return reach(pass, "Scheduling", isRunning(vmi));
  if (targetPod) return reach(pass, "Scheduling", areVolumesThere(pass));
  if (pass.failure?.message.includes("exceeded quota") && !pass.condition(overQuota)) {
    pass.setCondition({ type: overQuota, status: "True" });
  }
  return undefined;
}

function finishScheduling(pass: MigrationPass): PlanError | undefined {
  pass.removeCondition(overQuota);
  if (isSender(pass.migration)) {
    const error = listCopiedVolumes(pass);
    if (error) return error;
    return reach(pass, "Scheduled", Boolean(pass.vmi.status?.migrationState?.targetState?.pod));
  }
  const { targetPod } = pass;
  const isThere = targetPod !== undefined && isReady(targetPod) && areVolumesThere(pass);
  return reach(pass, "Scheduled", isThere);
}

function areVolumesThere(pass: MigrationPass): boolean {
  const { attachmentPod } = pass;
  return !hasAttachedVolumes(pass) || (attachmentPod !== undefined && isReady(attachmentPod));
}

/**
 * The target listens, and the run grant, if there is one, names the target. If the guest moved
 * before anybody looked, it already belongs to the target, and its grant no longer shows a
 * handover.
 */
function isTargetReady(pass: MigrationPass): boolean {
  const { vmi } = pass;
  const { targetState, targetNode, targetNodeAddress, completed, failed } =
    vmi.status?.migrationState ?? {};
  const isListening =
    (!isReceiver(pass.migration) && isSourceSynchronized(vmi) && isSet(targetState?.nodeAddress)) ||
    (isTargetHere(pass.migration) && Boolean(targetNode && targetNodeAddress));
  return isListening && (isHandoverGranted(pass) || (completed === true && !failed));
}

function complete(pass: MigrationPass): PlanError | undefined {
  const { vmi } = pass;
  const state = vmi.status?.migrationState;
  const failure = isTargetHere(pass.migration) ? announceTarget(pass) : undefined;
  if (failure) return failure;
  const conditions = conditionsOf(vmi);
  const isPending =
    findCondition(conditions, "HotVCPUChange") !== undefined ||
    hasCondition(conditions, "HotMemoryChange", "True") ||
    hasCondition(conditions, "MigrationRequired", "True");
  if (!state?.completed || isPending) return undefined;
  pass.event("Normal", "SuccessfulMigration", "the guest has moved");
  return reach(pass, "Succeeded", true);
}

/**
 * Records on the target Pod since when the guest has been there. The controller of VMIs does it together with what else
 * the move changes there, unless the guest's state must be moved first.
 */
function announceTarget(pass: MigrationPass): PlanError | undefined {
  const { vmi, targetPod, names, draft, grant } = pass;
  const arrival = targetPod && arrivalOf(targetPod, vmi, names);
  if (!arrival || entry(targetPod.metadata?.annotations, arrival.key) !== undefined)
    return undefined;
  if (grant && !pass.isStepwise && isArrivalJoined(pass)) return undefined;
  const failure = needsStateClaim(vmi) ? moveState(pass) : undefined;
  if (failure) return failure;
  const path = jsonPointer("metadata", "annotations", arrival.key);
  const refusal = draft.write({
    kind: "patch",
    resource: podResource,
    object: podName(targetPod),
    operations: [{ op: "add", path, value: arrival.value }],
  });
  return refusal && apiError(refusal);
}
