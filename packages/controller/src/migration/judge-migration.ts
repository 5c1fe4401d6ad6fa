import { text } from "@virtkit/api/shape";
import { isFinal } from "@virtkit/api/status";
import { apiError } from "../plan/api-error.ts";
import type { PlanError } from "../plan/plan.ts";
import { isDown } from "../vmi/pod-state.ts";
import { deletion } from "./cancel-target.ts";
import { failMigration, interruptMigration } from "./fail-migration.ts";
import { isHandedOff } from "./hand-off.ts";
import type { MigrationPass } from "./migration-pass.ts";
import {
  hasLeft,
  hasTarget,
  isFinalMigration,
  isHandedOffPhase,
  isStateOf,
  isTargetHere,
  phaseOf,
} from "./migration-phase.ts";
import { advance } from "./next-phase.ts";

/** Determines whether the migration has failed and, if not, how far it has come. */
export function judgeMigration(pass: MigrationPass): PlanError | undefined {
  return isFinalMigration(pass.migration) ? keepOutcome(pass) : judge(pass);
}

/** The result stays with the migration: the VMI only has room for its last one. */
function keepOutcome(pass: MigrationPass): undefined {
  const { vmi, migration } = pass;
  const state = vmi.status?.migrationState;
  if (state && isStateOf(vmi, migration)) pass.status = { ...pass.status, migrationState: state };
}

function judge(pass: MigrationPass): PlanError | undefined {
  const lost = lossOf(pass);
  if (lost) return interruptMigration(pass, lost) ?? deleteReceiver(pass);
  if (pass.isCancelled && !isHandedOff(pass)) {
    requestAbort(pass);
    return failMigration(pass, "the migration was cancelled");
  }
  const refuted = refutationOf(pass);
  if (refuted) return failMigration(pass, refuted);
  if (pass.isCancelled && !pass.condition(abortRequested)) {
    requestAbort(pass);
    return undefined;
  }
  const { attachmentPod } = pass;
  if (attachmentPod && isDown(attachmentPod)) {
    return failMigration(pass, "the Pod that brings the volumes to the target has ended");
  }
  return advance(pass);
}

/** What the migration depends on and has lost, while the guest may be on either side. */
function lossOf(pass: MigrationPass): string | undefined {
  const { vmi, migration, targetPod } = pass;
  if (isFinal(vmi) && !hasLeft(vmi)) return "the guest ended during the migration";
  // Cancelling before the node agents know of the migration loses nothing.
  if (pass.isCancelled && !isHandedOff(pass)) return undefined;
  if (targetPod && isDown(targetPod)) return "the target Pod ended during the migration";
  // What the VMI says may be further than the phase: a controller that ended in between has not shown it.
  const hadTarget = hasTarget(phaseOf(migration)) || isHandedOff(pass);
  if (targetPod || !hadTarget || !isTargetHere(migration)) return undefined;
  // Another controller may have created it: a cache that shows the phase may not show the Pod yet.
  pass.grant?.requireLiveRead();
  return "the target Pod no longer exists";
}

/** What in the VMI prevents the migration. */
function refutationOf({ vmi, migration }: MigrationPass): string | undefined {
  const isOwn = isStateOf(vmi, migration);
  if (isHandedOffPhase(phaseOf(migration)) && !isOwn) {
    return "the migration's state is missing from the VMI, or belongs to another migration";
  }
  const { failed, failureReason } = vmi.status?.migrationState ?? {};
  if (!isOwn || !failed) return undefined;
  return `the node agents report that it failed${failureReason ? `: ${failureReason}` : ""}`;
}

const abortRequested = "migrationAbortRequested";

function requestAbort(pass: MigrationPass): void {
  if (!pass.condition(abortRequested)) pass.setCondition({ type: abortRequested, status: "True" });
}

/** Between clusters, the Pod that should have received the guest is deleted with the migration. */
function deleteReceiver(pass: MigrationPass): PlanError | undefined {
  const { vmi, sourcePod, targetPod } = pass;
  if (isFinal(vmi) || !targetPod || !isDown(targetPod)) return undefined;
  const { sourceState, targetState } = vmi.status?.migrationState ?? {};
  const isAcross =
    sourceState &&
    targetState &&
    (sourceState.syncAddress === undefined) !== (targetState.syncAddress === undefined);
  if (!isAcross || !sourcePod) return undefined;
  if (pass.grant?.refuseDeletion(sourcePod, { isEnding: true }) !== undefined) return undefined;
  const name = text(sourcePod.metadata?.name);
  const refusal = deletion(pass, sourcePod);
  if (!refusal) {
    pass.event("Normal", "SuccessfulDelete", `target Pod ${name} was deleted`);
    return undefined;
  }
  pass.event(
    "Warning",
    "FailedDelete",
    `target Pod ${name} could not be deleted: ${refusal.message}`,
  );
  return apiError(refusal);
}
