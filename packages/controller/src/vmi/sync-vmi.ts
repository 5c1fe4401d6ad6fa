import { isFinal } from "@virtkit/api/status";
import { syncAttachments } from "./attachment-pods.ts";
import type { PodObject } from "./cluster-objects.ts";
import { missingSharers } from "./container-path.ts";
import { createLauncher } from "./create-launcher.ts";
import { volumesReady } from "./data-volumes.ts";
import {
  deleteAttachmentPods,
  deleteLaunchers,
  deleteOrphanedAttachmentPods,
  deleteOrphanedTargets,
  deleteTemporaryPods,
} from "./delete-pods.ts";
import { reportLauncherImage } from "./launcher-facts.ts";
import { currentPod } from "./own-pods.ts";
import { type PodMetadataSync, syncPodMetadata } from "./pod-metadata.ts";
import { isBeingDeleted, isReady, isTemporary } from "./pod-state.ts";
import type { SyncFailure } from "./sync-failure.ts";
import type { VmiPass } from "./vmi-pass.ts";

/** The outcome for a VMI's Pods. */
export interface Synced {
  /** The current Pod, or the one that was just created. */
  readonly pod?: PodObject | undefined;
  /** Whether this pass created it: then there is nothing to update yet. */
  readonly isNew?: boolean;
  /** Absent if the labels and annotations of the Pod were not checked. */
  readonly metadata?: PodMetadataSync;
  readonly failure?: SyncFailure | undefined;
}

/** Brings the Pods to the state that the VMI wants. */
export function syncVmi(pass: VmiPass): Synced {
  const pod = currentPod(pass.view);
  if (pass.isBeingDeleted) return { pod, failure: deleteLaunchers(pass) };
  deleteOrphanedTargets(pass);
  if (isFinal(pass.vmi)) return { pod, failure: deleteAttachmentPods(pass) };
  deleteOrphanedAttachmentPods(pass);
  const volumes = volumesReady(pass);
  if (volumes.failure) return { pod, failure: volumes.failure };
  if (pass.isReceiverUnsynced) return { pod };
  if (!pod) {
    const { pod: made, failure } = createLauncher(pass, volumes);
    return { pod: made, isNew: made !== undefined, failure };
  }
  return syncPod(pass, pod, volumes.needConsumer);
}

function syncPod(pass: VmiPass, pod: PodObject, needConsumer: boolean): Synced {
  const leftover = needConsumer ? undefined : deleteTemporaryPods(pass, pod);
  if (leftover) return { pod, failure: leftover };
  if (isTemporary(pod, pass.names)) return { pod };
  const lacking = missingSharers(pass, pod);
  if (lacking) return { pod, failure: lacking };
  if (!isReady(pod)) return { pod };
  // The Pod carries labels of the VMI, which come first.
  reportLauncherImage(pass, pod);
  const metadata = syncPodMetadata(pass, pod, true);
  if (metadata.live) {
    const failure = { reason: "FailedPodPatch", message: metadata.live.message };
    return { pod, metadata, failure };
  }
  const failure = isBeingDeleted(pod) ? undefined : syncAttachments(pass, metadata.pod);
  return { pod: metadata.pod, metadata, failure };
}
