import { text } from "@virtkit/api/shape";
import type { PodObject } from "./cluster-objects.ts";
import { attachmentPodsOf, currentPod, isControlledBy, podsOf } from "./own-pods.ts";
import { isBeingDeleted, isDown, isTemporary } from "./pod-state.ts";
import { deletePod } from "./pod-writes.ts";
import { grantRefused } from "./run-grant.ts";
import type { SyncFailure } from "./sync-failure.ts";
import type { VmiPass } from "./vmi-pass.ts";

/**
 * Deletes every Pod of a VMI that is to go. One that is on its way out is left to it until it has ended, and
 * one that hands its guest over, or receives one, until that is settled.
 */
export function deleteLaunchers(pass: VmiPass): SyncFailure | undefined {
  let blocked: SyncFailure | undefined;
  for (const pod of podsOf(pass.view)) {
    // KubeVirt deletes a Pod that has ended once more; a Pod that waits for its proof would be, in every pass.
    if (isBeingDeleted(pod) && (pass.grant || !isDown(pod))) continue;
    const reason = pass.grant?.refuseDeletion(pod);
    if (reason !== undefined) {
      blocked ??= { reason: grantRefused, message: reason, isWaiting: true };
      continue;
    }
    const refusal = deletePod(pass, pod, "launcher Pod");
    if (refusal) return { reason: "FailedDelete", message: refusal.message };
  }
  return blocked;
}

/** Deletes what attached volumes to a guest that has ended. */
export function deleteAttachmentPods(pass: VmiPass): SyncFailure | undefined {
  const launcher = currentPod(pass.view);
  if (!launcher) return undefined;
  for (const pod of attachmentPodsOf(launcher, pass.view)) {
    const refusal = deleteAttachmentPod(pass, pod);
    if (refusal) return { reason: "FailedHotplugSync", message: refusal.message };
  }
  return undefined;
}

/** Deletes the attachment Pods of launchers that have ended; tried again with the next pass. */
export function deleteOrphanedAttachmentPods(pass: VmiPass): void {
  const ended = podsOf(pass.view).filter(isDown);
  for (const launcher of ended) {
    for (const pod of attachmentPodsOf(launcher, pass.view)) deleteAttachmentPod(pass, pod);
  }
}

/** Deletes an attachment Pod, at once: nothing runs in it that could end better. */
export function deleteAttachmentPod(pass: VmiPass, pod: PodObject): ReturnType<typeof deletePod> {
  if (isBeingDeleted(pod)) return undefined;
  return deletePod(pass, pod, "attachment Pod", { gracePeriodSeconds: 0 });
}

/** Deletes the Pods that made volumes bind, once they have done so. */
export function deleteTemporaryPods(pass: VmiPass, launcher: PodObject): SyncFailure | undefined {
  const temporary = pass.view.pods
    .filter((pod) => isTemporary(pod, pass.names))
    .filter((pod) => isControlledBy(pod, pass.vmi) || isControlledBy(pod, launcher));
  for (const pod of temporary) {
    if (!["Running", "Succeeded", "Failed"].includes(text(pod.status?.phase))) continue;
    const refusal = deletePod(pass, pod, "temporary Pod", { gracePeriodSeconds: 0 });
    if (refusal) return { reason: "FailedHotplugSync", message: refusal.message };
  }
  return undefined;
}
