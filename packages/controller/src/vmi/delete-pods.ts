import { text } from "@virtkit/api/shape";
import type { PodObject } from "./cluster-objects.ts";
import { attachmentPodsOf, created, currentPod, isControlledBy, podsOf } from "./own-pods.ts";
import { isBeingDeleted, isDown, isTemporary } from "./pod-state.ts";
import { deletePod } from "./pod-writes.ts";
import { grantRefused } from "./run-grant.ts";
import type { SyncFailure } from "./sync-failure.ts";
import { unknownTargets } from "./unknown-targets.ts";
import type { VmiPass } from "./vmi-pass.ts";

/**
 * Deletes every Pod of a VMI that must end. A Pod that is being deleted is left alone until it has
 * ended, and one that hands over or receives the guest until that is settled.
 */
export function deleteLaunchers(pass: VmiPass): SyncFailure | undefined {
  let blocked: SyncFailure | undefined;
  for (const pod of podsOf(pass.view)) {
    // KubeVirt deletes an ended Pod once more; here that would happen in every pass while the Pod
    // waits for its proof.
    if (isBeingDeleted(pod) && (pass.grant || !isDown(pod))) continue;
    const reason = pass.grant?.refuseDeletion(pod, { isEnding: true });
    if (reason !== undefined) {
      blocked ??= { reason: grantRefused, message: reason, isWaiting: true };
      continue;
    }
    const refusal = deletePod(pass, pod, "launcher Pod");
    if (refusal) return { reason: "FailedDelete", message: refusal.message };
  }
  return blocked;
}

/** How long a migration may take to appear after its target Pod: two caches show two moments. */
const unseenSeconds = 60;

/**
 * Deletes the target Pods of migrations that do not exist any more: a Pod can be created after its migration was given up, if
 * the request was late. Nobody else would end it, and every later migration would wait for it. KubeVirt keeps such Pods. A
 * cache is not enough to tell that a migration does not exist: a live view has read the migrations of such Pods live, too.
 */
export function deleteOrphanedTargets(pass: VmiPass): void {
  const { grant, view, names, now, draft } = pass;
  if (!grant) return;
  for (const pod of unknownTargets(view, names)) {
    const left = unseenSeconds - (now - created(pod)) / 1000;
    if (left > 0) draft.requeueAfter(left);
    else if (grant.refuseDeletion(pod, { isEnding: false }) === undefined) {
      deletePod(pass, pod, "target Pod of a migration that does not exist");
    }
  }
}

/** Deletes the attachment Pods of a guest that has ended. */
export function deleteAttachmentPods(pass: VmiPass): SyncFailure | undefined {
  const launcher = currentPod(pass.view);
  if (!launcher) return undefined;
  for (const pod of attachmentPodsOf(launcher, pass.view)) {
    const refusal = deleteAttachmentPod(pass, pod);
    if (refusal) return { reason: "FailedHotplugSync", message: refusal.message };
  }
  return undefined;
}

/**
 * Deletes the attachment Pods of launchers that have ended; failures are tried again in the next
 * pass.
 */
export function deleteOrphanedAttachmentPods(pass: VmiPass): void {
  const ended = podsOf(pass.view).filter(isDown);
  for (const launcher of ended) {
    for (const pod of attachmentPodsOf(launcher, pass.view)) deleteAttachmentPod(pass, pod);
  }
}

/** Deletes an attachment Pod without a grace period: nothing in it needs time to end. */
export function deleteAttachmentPod(pass: VmiPass, pod: PodObject): ReturnType<typeof deletePod> {
  if (isBeingDeleted(pod)) return undefined;
  return deletePod(pass, pod, "attachment Pod", { gracePeriodSeconds: 0 });
}

/** Deletes the Pods that made volumes bind once they have done so. */
export function deleteTemporaryPods(pass: VmiPass, launcher: PodObject): SyncFailure | undefined {
  const temporary = pass.view.pods
    .filter((pod) => isTemporary(pod, pass.names))
    .filter((pod) => isControlledBy(pod, pass.vmi) || isControlledBy(pod, launcher));
  for (const pod of temporary) {
    if (!["Running", "Succeeded", "Failed"].includes(text(pod.status?.phase))) continue;
    // KubeVirt deletes it in every pass until it is gone; here it waits for its proof, too.
    if (pass.grant && isBeingDeleted(pod)) continue;
    const refusal = deletePod(pass, pod, "temporary Pod", { gracePeriodSeconds: 0 });
    if (refusal) return { reason: "FailedHotplugSync", message: refusal.message };
  }
  return undefined;
}
