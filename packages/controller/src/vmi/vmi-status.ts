import type { VirtualMachineInstanceCondition } from "@virtkit/api/schema";
import {
  conditionsOf,
  isFinal,
  observeCondition,
  type VmiPhase,
  withPhase,
} from "@virtkit/api/status";
import type { PlanError } from "../plan/plan.ts";
import { reportState } from "./backend-storage.ts";
import type { PodObject } from "./cluster-objects.ts";
import { dataVolumesOf, reportDataVolumes } from "./data-volumes.ts";
import { renameFinalizer } from "./finalizers.ts";
import { reportActivePods, reportLauncherImage, reportMemoryOverhead } from "./launcher-facts.ts";
import { mirrorPaused } from "./paused-condition.ts";
import { stepPhase } from "./phases.ts";
import { isMarkedForEviction, syncPodMetadata } from "./pod-metadata.ts";
import { endedAt, isTemporary } from "./pod-state.ts";
import { reportReady } from "./ready-condition.ts";
import { grantRefused } from "./run-grant.ts";
import type { SyncFailure } from "./sync-failure.ts";
import type { Synced } from "./sync-vmi.ts";
import type { VmiPass } from "./vmi-pass.ts";
import { isHandedOver } from "./vmi-write.ts";

/**
 * Computes the status of a VMI. An error says why that is not possible; nothing is written then.
 */
export function reportStatus(pass: VmiPass, synced: Synced): PlanError | undefined {
  const { pod, failure } = synced;
  const launcher = pod && !isTemporary(pod, pass.names) ? pod : undefined;
  renameFinalizer(pass);
  reportActivePods(pass);
  reportReady(pass, pod);
  if (launcher) {
    reportLauncherImage(pass, launcher);
    const refused = informPod(pass, synced);
    if (refused) return refused;
  }
  const dataVolumes = dataVolumesOf(pass);
  reportDataVolumes(pass, dataVolumes);
  reportState(pass);
  // Afterwards it is not the controller's to write.
  if (launcher && !isHandedOver(pass)) reportMemoryOverhead(pass, launcher);
  const unended = endGrant(pass, launcher);
  const step = stepPhase(pass, { pod, dataVolumes, failure: failure ?? unended });
  if ("error" in step) return step.error;
  reportEviction(pass);
  if (!isHandedOver(pass)) {
    reportFailure(pass, step.failure);
    reportPhaseTime(pass, launcher);
  } else if (isGrantRefused(step.failure) || isGrantRefused(pass.condition("Synchronized"))) {
    // The node agent's own failures are not touched.
    reportFailure(pass, isGrantRefused(step.failure) ? step.failure : undefined);
  }
  return undefined;
}

/**
 * Nobody may run the guest of a VMI that has ended, must end or was lost: that is recorded once it
 * is proven.
 */
function endGrant(pass: VmiPass, launcher: PodObject | undefined): SyncFailure | undefined {
  const { grant, vmi, isBeingDeleted, draft } = pass;
  if (grant?.isLost) return grant.end();
  if (!grant || !(isFinal(vmi) || isBeingDeleted)) return undefined;
  const wait = isHandedOver(pass) && launcher ? agentsTurn(pass, launcher) : 0;
  if (wait > 0) draft.requeueAfter(wait);
  return wait > 0 ? undefined : grant.end();
}

/**
 * How long the node agent has to write the end together with the phase; two writers at once would
 * collide.
 */
const agentSeconds = 10;

/** The seconds left for the node agent to write what only an ended launcher needs. */
function agentsTurn({ now }: VmiPass, launcher: PodObject): number {
  const ended = endedAt(launcher);
  return ended === undefined ? 0 : agentSeconds - (now - ended) / 1000;
}

/** Tells the Pod what it should know. A new Pod is told once it appears. */
function informPod(pass: VmiPass, { pod, isNew, metadata }: Synced): PlanError | undefined {
  if (!pod || isNew) return undefined;
  const { mirrored } = metadata ?? syncPodMetadata(pass, pod, false);
  const refusal = mirrorPaused(pass, pod) ?? mirrored;
  if (!refusal) return undefined;
  const message = `the launcher Pod could not be updated: ${refusal.message}`;
  return { kind: "other", reason: refusal.reason, message };
}

function reportEviction(pass: VmiPass): void {
  const type = "EvictionRequested";
  if (!isMarkedForEviction(pass.vmi)) {
    pass.removeCondition(type);
  } else if (pass.condition(type)?.status !== "True") {
    const message = `the VMI must leave node ${pass.vmi.status?.evacuationNodeName}`;
    pass.setCondition({ type, status: "True", reason: type, message });
  }
}

/** `Synchronized` exists only while something stands in the way. */
function reportFailure(pass: VmiPass, failure: SyncFailure | undefined): void {
  const observed = failure && {
    status: "False",
    reason: failure.reason,
    message: failure.message,
    lastTransitionTime: pass.time,
  };
  const conditions = observeCondition(conditionsOf(pass), "Synchronized", observed);
  if (conditions.length === 0 && pass.status.conditions === undefined) return;
  pass.status = { ...pass.status, conditions: conditions as VirtualMachineInstanceCondition[] };
}

function isGrantRefused(told: { readonly reason?: string } | undefined): boolean {
  return told?.reason === grantRefused;
}

/** A phase that was skipped within one write is reported, too: it began with the Pod. */
function reportPhaseTime(pass: VmiPass, launcher: PodObject | undefined): void {
  const { phase } = pass.status;
  const before = pass.vmi.status?.phase ?? "";
  if (phase === undefined || phase === before) return;
  if (phase === "Scheduled" && before !== "Scheduling") {
    const since = launcher?.metadata?.creationTimestamp ?? pass.time;
    pass.status = withPhase(pass.status, "Scheduling", since);
  }
  pass.status = withPhase(pass.status, phase as VmiPhase, pass.time);
}
