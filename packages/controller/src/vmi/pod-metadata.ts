import { livePodAnnotations } from "@virtkit/api/network";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { text } from "@virtkit/api/shape";
import { conditionsOf, setCondition } from "@virtkit/api/status";
import { backupHookAnnotations, backupHookKeys } from "@virtkit/launcher-pod/traits";
import { mapPatch, type TextMap } from "../plan/map-patch.ts";
import { podResource } from "../plan/resources.ts";
import type { Refusal } from "../plan/write-outcome.ts";
import { arrivalOf, isArrivalJoined } from "./arrival.ts";
import type { PodObject } from "./cluster-objects.ts";
import { conditionPatch, unpausedChange } from "./paused-condition.ts";
import { podName } from "./pod-writes.ts";
import { withSynced } from "./synced-keys.ts";
import type { VmiPass } from "./vmi-pass.ts";

/** Annotations through which the descheduler coordinates with the component that moves Pods for it. */
const descheduler = {
  requestEvictOnly: "descheduler.alpha.kubernetes.io/request-evict-only",
  evictionInProgress: "descheduler.alpha.kubernetes.io/eviction-in-progress",
  evict: "descheduler.alpha.kubernetes.io/evict",
  preferNoEviction: "descheduler.alpha.kubernetes.io/prefer-no-eviction",
} as const;

/** The outcome of updating a Pod's labels and annotations. */
export interface PodMetadataSync {
  /** The Pod afterwards. */
  readonly pod: PodObject;
  /** What the running guest needs was refused: networks, evictions. */
  readonly live?: Refusal;
  /** What follows from the VMI's own labels and annotations was refused. */
  readonly mirrored?: Refusal;
}

/**
 * Keeps labels and annotations of a launcher Pod up to date, with one write.
 *
 * @param isLive the Pod is ready: it also informs Multus of networks and the descheduler of evictions.
 */
export function syncPodMetadata(pass: VmiPass, pod: PodObject, isLive: boolean): PodMetadataSync {
  const { labels, annotations } = pod.metadata ?? {};
  const live = isLive ? liveAnnotations(pass, pod) : (annotations ?? {});
  const mirrored = mirroredAnnotations(pass, live);
  const newLabels = mirroredLabels(pass, pod, isLive);
  const operations = [
    ...mapPatch(["metadata", "labels"], labels, newLabels),
    ...mapPatch(["metadata", "annotations"], annotations, mirrored),
  ];
  if (operations.length === 0) return { pod };
  // For a Pod, unlike a custom resource, a write of the status also changes labels and annotations.
  const gate = isLive && !pass.config.stepByStep ? unpausedChange(pass, pod) : undefined;
  const refusal = pass.draft.write({
    kind: "patch",
    resource: podResource,
    object: podName(pod),
    ...(gate && { subresource: "status" }),
    operations: gate ? [...operations, ...conditionPatch(pod, gate)] : operations,
  });
  if (!refusal) {
    const metadata = { ...pod.metadata, labels: newLabels, annotations: mirrored };
    const status = gate && {
      ...pod.status,
      conditions: setCondition(conditionsOf(pod), gate),
    };
    return { pod: { ...pod, metadata, ...(status && { status }) } };
  }
  const isChanged = (before: TextMap | undefined, after: TextMap): boolean =>
    mapPatch([], before ?? {}, after).length > 0;
  return {
    pod,
    ...(isChanged(annotations, live) ? { live: refusal } : {}),
    ...(isChanged(labels, newLabels) || isChanged(live, mirrored) ? { mirrored: refusal } : {}),
  };
}

function liveAnnotations(pass: VmiPass, pod: PodObject): TextMap {
  const { vmi, config } = pass;
  const annotations: Record<string, string> = {
    ...joinedArrival(pass, pod),
    ...pod.metadata?.annotations,
    [descheduler.requestEvictOnly]: "",
    ...livePodAnnotations(vmi, pod, config.cluster),
  };
  const isLeaving = isMarkedForEviction(vmi);
  const isMarked = annotations[descheduler.evictionInProgress] !== undefined;
  if (isLeaving && !isMarked) annotations[descheduler.evictionInProgress] = "true";
  if (!isLeaving) delete annotations[descheduler.evictionInProgress];
  return annotations;
}

function joinedArrival(pass: VmiPass, pod: PodObject): TextMap {
  const arrival = pass.grant && isArrivalJoined(pass) && arrivalOf(pod, pass.vmi, pass.names);
  return arrival ? { [arrival.key]: arrival.value } : {};
}

/** Whether somebody asked the guest to leave its node. */
export function isMarkedForEviction({ status }: VirtualMachineInstance): boolean {
  return Boolean(status?.evacuationNodeName);
}

function mirroredAnnotations(pass: VmiPass, current: TextMap): TextMap {
  const { namespace, name, annotations, config } = pass;
  const hooks = backupHookAnnotations(
    { namespace, name, annotations },
    config.cluster,
    config.profile,
  );
  const keys = [
    descheduler.evict,
    descheduler.preferNoEviction,
    ...(config.syncedAnnotations ?? []),
    ...backupHookKeys,
  ];
  return withSynced(current, { ...annotations, ...hooks }, keys);
}

function mirroredLabels(pass: VmiPass, { metadata, spec }: PodObject, isLive: boolean): TextMap {
  const { config, names, vmi } = pass;
  const { nodeName, outdatedLauncherImage } = names.labels;
  // A VMI that is about to be handed over gets this label in the same pass.
  const isNext = isLive && !config.stepByStep && !vmi.status?.nodeName && !pass.isBeingDeleted;
  const labels = isNext ? { ...pass.labels, [nodeName]: text(spec?.nodeName) } : pass.labels;
  const keys = [nodeName, outdatedLauncherImage, ...(config.syncedLabels ?? [])];
  return withSynced(metadata?.labels ?? {}, labels, keys);
}
