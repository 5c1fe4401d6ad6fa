import type { VolumeStatus } from "@virtkit/api/schema";
import type { PodObject } from "./cluster-objects.ts";
import { deleteAttachmentPod } from "./delete-pods.ts";
import { isHotpluggable } from "./hotplug-volumes.ts";
import { isBeingDeleted } from "./pod-state.ts";
import type { SyncFailure } from "./sync-failure.ts";
import type { VmiPass } from "./vmi-pass.ts";

/**
 * Deletes attachment Pods that are no longer needed. The newest running one stays until its
 * successor runs; one whose volumes the guest still uses stays until they are unmounted.
 */
export function cleanUpAttachmentPods(
  pass: VmiPass,
  current: PodObject | undefined,
  old: readonly PodObject[],
  hasReadyVolumes: boolean,
): SyncFailure | undefined {
  const wanted = new Set(
    (pass.vmi.spec.volumes ?? []).filter(isHotpluggable).map(({ name }) => name),
  );
  const inUse = new Set(
    (pass.vmi.status?.volumeStatus ?? [])
      .filter(({ name }) => !wanted.has(name))
      .filter(isUsedByGuest)
      .map(({ name }) => name),
  );
  const needsFallback = hasReadyVolumes && current?.status?.phase !== "Running";
  const fallback = old.find(
    (pod) =>
      needsFallback &&
      pod.status?.phase === "Running" &&
      !isBeingDeleted(pod) &&
      (carriesAny(pod, wanted) || carriesAny(pod, inUse)),
  );
  for (const pod of old) {
    if (pod === fallback || carriesAny(pod, inUse)) continue;
    const refusal = deleteAttachmentPod(pass, pod);
    if (refusal) return { reason: "FailedDelete", message: refusal.message };
  }
  return undefined;
}

function carriesAny({ spec }: PodObject, names: ReadonlySet<string>): boolean {
  return (spec?.volumes ?? []).some(({ name }) => names.has(name));
}

/** A volume that left the spec and that the node has not released. */
function isUsedByGuest({ hotplugVolume, phase }: VolumeStatus): boolean {
  return hotplugVolume !== undefined && (phase === "Ready" || phase === "MountedToPod");
}
