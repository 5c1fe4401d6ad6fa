import { interfaceStatuses } from "@virtkit/api/network";
import type {
  VirtualMachineInstanceNetworkInterface,
  VirtualMachineInstancePhase,
} from "@virtkit/api/schema";
import { text } from "@virtkit/api/shape";
import { conditionsOf, findCondition } from "@virtkit/api/status";
import { hasDedicatedCpus } from "@virtkit/launcher-pod/traits";
import type { PlanError } from "../plan/plan.ts";
import type { DataVolumeObject, PodObject } from "./cluster-objects.ts";
import { releaseEnded, releaseUnstarted } from "./finalizers.ts";
import { reportHotChanges } from "./hot-changes.ts";
import { imageError } from "./image-error.ts";
import { created } from "./own-pods.ts";
import { isDown, isFailing, isGoingDown, isReady, isTemporary } from "./pod-state.ts";
import type { SyncFailure } from "./sync-failure.ts";
import { hintTscFrequency } from "./tsc-frequency.ts";
import type { VmiPass } from "./vmi-pass.ts";
import { isHandedOver } from "./vmi-write.ts";
import { reportVolumes } from "./volume-status.ts";
import { assignCid } from "./vsock-cid.ts";

/** What the next phase depends on in addition to the VMI itself. */
export interface PhaseFacts {
  /** The current Pod, whatever it is for. */
  readonly pod: PodObject | undefined;
  readonly dataVolumes: readonly DataVolumeObject[];
  readonly failure: SyncFailure | undefined;
}

/** The failure to show after this phase, or why nothing can be shown at all. */
export type PhaseStep =
  | { readonly failure?: SyncFailure | undefined }
  | { readonly error: PlanError };

/** Moves the VMI on from its present phase. */
export function stepPhase(pass: VmiPass, facts: PhaseFacts): PhaseStep {
  const launcher = facts.pod && !isTemporary(facts.pod, pass.names) ? facts.pod : undefined;
  // Caches may show the VMI as it was before a migration, and the Pods as they are after it, or the other way around.
  if (!launcher && isHandedOver(pass)) pass.grant?.requireLiveRead();
  switch (pass.vmi.status?.phase ?? "") {
    case "":
    case "Pending":
      return fromPending(pass, facts, launcher);
    case "Scheduling":
      return fromScheduling(pass, facts, launcher);
    case "Scheduled":
      return fromScheduled(pass, facts, launcher);
    case "Running":
      return fromRunning(pass, facts, launcher);
    case "WaitingForSync":
      return fromWaitingForSync(pass, facts, launcher);
    case "Succeeded":
    case "Failed":
      releaseEnded(pass);
      return facts;
    default:
      return failed(`phase ${pass.vmi.status?.phase} is unknown to this controller`);
  }
}

function failed(message: string): PhaseStep {
  return { error: { kind: "other", reason: "", message } };
}

function enter(pass: VmiPass, phase: VirtualMachineInstancePhase): void {
  pass.status = { ...pass.status, phase };
}

function fromPending(
  pass: VmiPass,
  { pod, dataVolumes, failure }: PhaseFacts,
  launcher: PodObject | undefined,
): PhaseStep {
  const inPhase = (phase: string) => dataVolumes.some(({ status }) => status?.phase === phase);
  if (launcher) {
    enter(pass, "Scheduling");
    return pass.config.stepByStep ? { failure } : fromNewPod(pass, { failure }, launcher);
  }
  if (pass.isBeingDeleted || inPhase("Failed")) {
    enter(pass, "Failed");
    return { failure };
  }
  enter(pass, pass.isReceiverUnsynced ? "WaitingForSync" : "Pending");
  const hintless = hintTscFrequency(pass);
  if (hintless) return { error: { kind: "sync", ...hintless } };
  if (pass.isReceiverUnsynced) return { failure };
  if (inPhase("WaitForFirstConsumer")) reportProvisioning(pass, pod);
  if (failure?.reason === "FailedPvcNotFound") {
    const { message } = failure;
    const reason = "Unschedulable";
    pass.setCondition({ type: "PodScheduled", status: "False", reason, message });
  }
  return { failure };
}

/** A disk is being filled, which needs a temporary Pod. */
function reportProvisioning(pass: VmiPass, temporary: PodObject | undefined): void {
  if (!pass.condition("Provisioning")) {
    pass.setCondition({ type: "Provisioning", status: "True" });
  }
  if (!temporary) return;
  mirrorPodScheduled(pass, temporary);
  if (isFailing(temporary)) enter(pass, "Failed");
}

/** Shows that no node accepts the Pod, while that is so. */
function mirrorPodScheduled(pass: VmiPass, pod: PodObject): void {
  const type = "PodScheduled";
  const scheduled = findCondition(conditionsOf(pod), type);
  if (scheduled?.status !== "False") pass.removeCondition(type);
  else if (!pass.condition(type)) pass.setCondition(scheduled);
}

/**
 * How long a new Pod may take before the VMI shows that it waits. Object times are whole seconds.
 */
const patienceSeconds = 3;

/**
 * With a Pod that is ready soon, one write takes the VMI to `Scheduled`; a slow Pod, or one with a
 * problem, shows in the VMI.
 */
function fromNewPod(
  pass: VmiPass,
  facts: Pick<PhaseFacts, "failure">,
  launcher: PodObject,
): PhaseStep {
  const step = fromScheduling(pass, facts, launcher);
  const isWaiting = pass.status.phase === "Scheduling" && !pass.condition("PodScheduled");
  if (!isWaiting || pass.isBeingDeleted || "error" in step || step.failure) return step;
  const age = (pass.now - (created(launcher) || pass.now)) / 1000;
  if (age >= patienceSeconds) return step;
  pass.isPostponed = true;
  pass.draft.requeueAfter(patienceSeconds - age);
  return step;
}

function fromScheduling(
  pass: VmiPass,
  { failure }: Pick<PhaseFacts, "failure">,
  pod: PodObject | undefined,
): PhaseStep {
  pass.removeCondition("Provisioning");
  if (!pod) {
    loseGuest(pass);
    return { failure };
  }
  const qosClass = text(pod.status?.qosClass);
  const { qosClass: _, ...status } = pass.status;
  pass.status = qosClass ? { ...status, qosClass } : status;
  mirrorPodScheduled(pass, pod);
  const shown = imageError(pod) ?? failure;
  if (isReady(pod) && !pass.isBeingDeleted) return handOver(pass, pod, shown);
  if (isGoingDown(pod)) loseGuest(pass);
  return { failure: shown };
}

/** The Pod is ready: the node agent takes the VMI over. */
function handOver(pass: VmiPass, pod: PodObject, failure: SyncFailure | undefined): PhaseStep {
  if (hasDedicatedCpus(pass.vmi.spec) && pod.status?.qosClass !== "Guaranteed") {
    const reason = "FailedGuaranteeResources";
    const message = "the VMI requests dedicated CPUs, but its Pod is not of QoS class Guaranteed";
    pass.event("Warning", reason, message);
    return { failure: { reason, message } };
  }
  const patience = patienceSeconds - (pass.now - created(pod)) / 1000;
  if (patience > 0 && pass.grant?.isUnremembered(pod)) {
    // The VM is about to write that it remembers the Pod, which triggers the next pass. A live read before
    // that would be useless.
    pass.draft.requeueAfter(patience);
    return { failure };
  }
  const ungranted = pass.grant?.giveTo(pod);
  if (ungranted) return { failure: ungranted };
  const problem = reportVolumes(pass, pod);
  if (problem) return failed(problem);
  reportInterfaces(pass, pod);
  enter(pass, "Scheduled");
  const nodeName = text(pod.spec?.nodeName);
  pass.labels = { ...pass.labels, [pass.names.labels.nodeName]: nodeName };
  pass.status = { ...pass.status, nodeName };
  const unix = pass.names.annotations.migrationTransportUnix;
  if (pod.metadata?.annotations?.[unix] !== undefined) {
    pass.status = { ...pass.status, migrationTransport: "Unix" };
  }
  assignCid(pass);
  return { failure };
}

/** The Pod is gone or ending: a receiver may get another guest, any other VMI has failed. */
function loseGuest(pass: VmiPass): void {
  enter(pass, pass.isReceiver ? "WaitingForSync" : "Failed");
}

function reportInterfaces(pass: VmiPass, pod: PodObject): void {
  const interfaces = interfaceStatuses({ ...pass.vmi, status: pass.status }, pod);
  pass.status = {
    ...pass.status,
    interfaces: interfaces as VirtualMachineInstanceNetworkInterface[],
  };
}

function fromScheduled(
  pass: VmiPass,
  { failure }: PhaseFacts,
  pod: PodObject | undefined,
): PhaseStep {
  const hasLost = pass.isReceiver && (hasFailedToReceive(pass) || (pod && isDown(pod)));
  if (!pod || hasLost || wentWithNode(pass, pod)) {
    loseGuest(pass);
    return { failure };
  }
  const problem = reportVolumes(pass, pod);
  return problem ? failed(problem) : { failure };
}

function hasFailedToReceive({ isReceiver, vmi }: VmiPass): boolean {
  return isReceiver && vmi.status?.migrationState?.failed === true;
}

function fromRunning(
  pass: VmiPass,
  { failure }: PhaseFacts,
  pod: PodObject | undefined,
): PhaseStep {
  if (pass.grant?.isLost) {
    const message = "the guest was lost in a migration: both of its launchers have ended";
    pass.event("Warning", "Stopped", message);
  }
  if (!pod || pass.grant?.isLost || wentWithNode(pass, pod)) {
    enter(pass, "Failed");
    return { failure };
  }
  if (pod.status?.phase === "Succeeded" && hasLeftCluster(pass)) {
    enter(pass, "Succeeded");
    return { failure };
  }
  const problem = reportVolumes(pass, pod);
  if (problem) return failed(problem);
  reportInterfaces(pass, pod);
  reportHotChanges(pass, pod);
  return { failure };
}

/** Only the controllers can say that a guest is gone if its node was taken out of service. */
function wentWithNode(pass: VmiPass, pod: PodObject): boolean {
  if (!pass.grant?.isFencedIn(pod)) return false;
  const message = `node ${text(pod.spec?.nodeName)} is out of service, and the guest ended with it`;
  pass.event("Warning", "Stopped", message);
  return true;
}

/**
 * Whether the guest has moved to another cluster or namespace: exactly one side has an address
 * there.
 */
function hasLeftCluster({ vmi }: VmiPass): boolean {
  const { sourceState, targetState, completed } = vmi.status?.migrationState ?? {};
  if (!sourceState || !targetState || completed !== true) return false;
  return (sourceState.syncAddress === undefined) !== (targetState.syncAddress === undefined);
}

function fromWaitingForSync(
  pass: VmiPass,
  { failure }: PhaseFacts,
  pod: PodObject | undefined,
): PhaseStep {
  // KubeVirt goes to `Scheduling` and back in every pass while the Pod of the last attempt is being deleted.
  const isOver = pass.grant ? isGoingDown : isDown;
  if (pass.isBeingDeleted) releaseUnstarted(pass);
  else if (pod && !hasFailedToReceive(pass) && !(pass.isReceiver && isOver(pod))) {
    enter(pass, "Scheduling");
  }
  return { failure };
}
