import type { Volume } from "@virtkit/api/schema";
import { text } from "@virtkit/api/shape";
import { isBlockClaim } from "@virtkit/api/volumes";
import {
  isLauncherPodError,
  type PersistentVolumeClaim,
  type Pod,
  renderHotplugPod,
  renderHotplugTriggerPod,
} from "@virtkit/launcher-pod";
import { claimNameOf } from "@virtkit/launcher-pod/traits";
import { derivedName } from "../plan/derived-name.ts";
import { cleanUpAttachmentPods } from "./attachment-cleanup.ts";
import type { PodObject } from "./cluster-objects.ts";
import { claimNamed, claimReadiness } from "./data-volumes.ts";
import { hotplugVolumes, sortVolumes } from "./hotplug-volumes.ts";
import { attachmentPodsOf, created } from "./own-pods.ts";
import { isBeingDeleted } from "./pod-state.ts";
import { createPod } from "./pod-writes.ts";
import type { SyncFailure } from "./sync-failure.ts";
import type { VmiPass } from "./vmi-pass.ts";

/**
 * Makes sure that one Pod brings all hotplug volumes to the guest's node. When the volumes change,
 * a new Pod takes over before the old one is deleted.
 */
export function syncAttachments(pass: VmiPass, launcher: PodObject): SyncFailure | undefined {
  const volumes = hotplugVolumes(pass.vmi, launcher);
  const pods = attachmentPodsOf(launcher, pass.view);
  if (!needsWork(volumes, pods)) return undefined;
  const { ready, waiting, failure } = sortVolumes(pass, volumes);
  const trigger = firstFailure(waiting, (volume) => triggerPopulation(pass, launcher, volume));
  if (trigger ?? failure) return trigger ?? failure;
  const { current, old } = splitAttachmentPods(ready, pods);
  if (!current && ready.length > 0 && old.every(isUnderWay)) {
    const refused = createAttachment(pass, launcher, ready);
    if (refused) return refused;
  }
  return cleanUpAttachmentPods(pass, current, old, ready.length > 0);
}

function needsWork(volumes: readonly Volume[], pods: readonly PodObject[]): boolean {
  const [first] = pods;
  if (first && pods.length === 1) return !carriesExactly(first, volumes);
  return pods.length > 1 || volumes.length > 0;
}

/** Not pending: a Pod that waits for a node gets time to find one before another is created. */
function isUnderWay({ status }: PodObject): boolean {
  return ["Running", "Succeeded", "Failed"].includes(status?.phase ?? "");
}

function firstFailure<T>(
  items: readonly T[],
  attempt: (item: T) => SyncFailure | undefined,
): SyncFailure | undefined {
  for (const item of items) {
    const failure = attempt(item);
    if (failure) return failure;
  }
  return undefined;
}

/**
 * Attachment Pods by whether they carry exactly these volumes; the others are sorted newest first.
 */
export function splitAttachmentPods(
  volumes: readonly Volume[],
  pods: readonly PodObject[],
): { readonly current?: PodObject; readonly old: readonly PodObject[] } {
  const fitting = pods.filter((pod) => carriesExactly(pod, volumes));
  const current = fitting.findLast((pod) => !isBeingDeleted(pod));
  const old = pods.filter((pod) => !fitting.includes(pod)).sort((a, b) => created(b) - created(a));
  return current ? { current, old } : { old };
}

/**
 * Compares the claims only: the cluster decides whether a Pod also has a token, and what else is
 * mounted into it.
 */
function carriesExactly({ spec }: PodObject, volumes: readonly Volume[]): boolean {
  const claims = (spec?.volumes ?? []).filter((each) => each.persistentVolumeClaim);
  const wanted = new Set(volumes.map(({ name }) => name));
  return claims.length === volumes.length && claims.every(({ name }) => wanted.has(name));
}

function createAttachment(
  pass: VmiPass,
  launcher: PodObject,
  volumes: readonly Volume[],
): SyncFailure | undefined {
  const pod = renderAttachment(pass, launcher, volumes);
  const carried = volumes.map((volume) => `${volume.name}=${claimNameOf(volume)}`).toSorted();
  return pod && create(pass, named(pass, pod, launcher, carried), "attachment Pod");
}

/**
 * One name for a launcher and its volumes, so that two controllers, or one twice, create one Pod.
 */
function named(
  { config }: VmiPass,
  pod: Pod,
  { metadata }: PodObject,
  carried: readonly string[],
): Pod {
  if (config.podNames === "generated") return pod;
  return derivedName(pod, [text(metadata?.uid), ...carried].join("/"));
}

/** No Pod while a claim is missing or empty, or until the node has reported the SELinux context. */
function renderAttachment(
  { vmi, view, config }: VmiPass,
  launcherPod: PodObject,
  volumes: readonly Volume[],
): Pod | undefined {
  const claims = new Map<string, PersistentVolumeClaim>();
  for (const volume of volumes) {
    const claim = claimNamed(view, claimNameOf(volume));
    if (!claim) return undefined;
    if (claimReadiness(view, claim) !== "ready") continue;
    claims.set(volume.name, claim as PersistentVolumeClaim);
  }
  if (claims.size === 0) return undefined;
  try {
    const request = { vmi, volumes, launcherPod, claims };
    return renderHotplugPod(request, config.cluster, { profile: config.profile });
  } catch (error) {
    // The node's report brings what is missing and triggers the next pass.
    if (isLauncherPodError(error)) return undefined;
    throw error;
  }
}

function triggerPopulation(
  pass: VmiPass,
  launcherPod: PodObject,
  volume: Volume,
): SyncFailure | undefined {
  const { vmi, view, config } = pass;
  const claimName = claimNameOf(volume);
  const block = isBlockClaim(claimNamed(view, claimName)?.spec);
  const trigger = { vmi, volume, claimName, block, launcherPod, temporary: true };
  try {
    const pod = renderHotplugTriggerPod(trigger, config.cluster, { profile: config.profile });
    const filler = named(pass, pod, launcherPod, ["fill", claimName]);
    return create(pass, filler, "Pod that fills a volume");
  } catch (error) {
    if (!isLauncherPodError(error)) throw error;
    return { reason: "FailedCreate", message: error.message };
  }
}

function create(pass: VmiPass, pod: Pod, what: string): SyncFailure | undefined {
  const refusal = createPod(pass, pod);
  if (!refusal) {
    pass.event("Normal", "SuccessfulCreate", `the ${what} was created`);
    return undefined;
  }
  // Lagging caches do not show it yet; the end of one that is being deleted triggers an event.
  if (pod.metadata.name !== undefined && refusal.reason === "AlreadyExists") return undefined;
  const message = `the ${what} was refused: ${refusal.message}`;
  pass.event("Warning", "FailedCreate", message);
  return { reason: "FailedCreate", message };
}
