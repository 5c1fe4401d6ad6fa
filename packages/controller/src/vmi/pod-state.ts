import type { Names } from "@virtkit/api/names";
import type { ContainerSeen, PodObject } from "./cluster-objects.ts";

const compute = "compute";

/** Whether the Pod has ended, successfully or not. */
export function isDown({ status }: PodObject): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

/** Whether no guest will run in the Pod any more: it has ended, its launcher has, or it is being deleted. */
export function isGoingDown(pod: PodObject): boolean {
  return isDown(pod) || Boolean(launcherIn(pod)?.state?.terminated) || isBeingDeleted(pod);
}

/** The same for a Pod that is meant to end: an end without failure does not count. */
export function isFailing(pod: PodObject): boolean {
  const exitCode = launcherIn(pod)?.state?.terminated?.exitCode ?? 0;
  return pod.status?.phase === "Failed" || exitCode !== 0 || isBeingDeleted(pod);
}

/** Whether somebody has asked for the Pod's deletion. */
export function isBeingDeleted({ metadata }: PodObject): boolean {
  return Boolean(metadata?.deletionTimestamp);
}

/**
 * Whether the launcher can take a guest. The launcher's own readiness is the guest's, and Istio's
 * proxy is not ready before a Service selects the Pod, so these two only have to run.
 */
export function isReady(pod: PodObject): boolean {
  if (isGoingDown(pod) || pod.status?.phase !== "Running") return false;
  return containersOf(pod).every(({ name, ready, state }) =>
    name === compute || name === "istio-proxy" ? Boolean(state?.running) : ready === true,
  );
}

/** Whether the Pod only makes volumes bind; no guest runs in it. */
export function isTemporary({ metadata }: PodObject, { annotations }: Names): boolean {
  return metadata?.annotations?.[annotations.ephemeralProvisioning] !== undefined;
}

/**
 * When the launcher ended, in milliseconds since the epoch; undefined if it has not ended, or the
 * time is unknown.
 */
export function endedAt(pod: PodObject): number | undefined {
  const time = Date.parse(launcherIn(pod)?.state?.terminated?.finishedAt ?? "");
  return Number.isNaN(time) ? undefined : time;
}

/** The image of the launcher; empty if the Pod has none. */
export function launcherImageOf({ spec }: PodObject): string {
  return spec?.containers?.find(({ name }) => name === compute)?.image ?? "";
}

function launcherIn(pod: PodObject): ContainerSeen | undefined {
  return containersOf(pod).find(({ name }) => name === compute);
}

function containersOf({ status }: PodObject): readonly ContainerSeen[] {
  return status?.containerStatuses ?? [];
}
