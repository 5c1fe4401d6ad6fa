import type { ReadGrant } from "@virtkit/api/grant";
import { at, objects, text } from "@virtkit/api/shape";
import { defineResource, type KubeObject, type Resource } from "@virtkit/kube";
import type { ContainerName } from "./node-host.ts";

/** Pods. */
export const podResource: Resource = defineResource({ version: "v1", plural: "pods", kind: "Pod" });

/** What is kept of a Pod: a node has a hundred, and their specs are large. */
export function withoutSpec(pod: KubeObject): KubeObject {
  const { apiVersion, kind, metadata } = pod;
  const { namespace, name, uid, resourceVersion } = metadata;
  const { labels, ownerReferences, deletionTimestamp } = metadata;
  const statuses = objects(at(pod, "status", "containerStatuses"));
  // A copy: the cache changes what it keeps.
  return structuredClone({
    ...{ apiVersion, kind },
    metadata: { namespace, name, uid, resourceVersion, labels, ownerReferences, deletionTimestamp },
    status: {
      containerStatuses: statuses.filter(({ name: own }) => own === "compute"),
      podIPs: at(pod, "status", "podIPs"),
    },
  }) as KubeObject;
}

/** The compute container of a Pod, as the kubelet reports it. */
export interface LauncherContainer extends ContainerName {
  /** Whether the kubelet does not run it any more. That alone proves nothing about a guest that was claimed. */
  readonly isTerminated: boolean;
}

/** The launcher of a Pod; undefined if the kubelet has not started it. */
export function launcherContainer(pod: KubeObject): LauncherContainer | undefined {
  const [status] = objects(at(pod, "status", "containerStatuses"));
  const containerID = text(at(status, "containerID"));
  if (containerID === "") return undefined;
  const isTerminated = at(status, "state", "terminated") !== undefined;
  return { podUid: text(pod.metadata.uid), containerID, isTerminated };
}

/** How a guest ended, as its launcher has reported it to the kubelet; undefined if it has reported nothing. */
export function lastWords(
  pod: KubeObject,
): { readonly state: "Shutoff" | "Crashed"; readonly reason: string } | undefined {
  const [status] = objects(at(pod, "status", "containerStatuses"));
  const [, facts = ""] = text(at(status, "state", "terminated", "message")).split("\n");
  try {
    const told: unknown = JSON.parse(facts);
    const [state, reason] = [text(at(told, "state")), text(at(told, "reason"))];
    return state === "Shutoff" || state === "Crashed" ? { state, reason } : undefined;
  } catch {
    // Left by a launcher that was killed, or by nobody: then nothing is known about it.
    return undefined;
  }
}

/** The addresses of a Pod. */
export function podAddresses(pod: KubeObject): readonly string[] {
  return objects(at(pod, "status", "podIPs"))
    .map(({ ip }) => text(ip))
    .filter((ip) => ip !== "");
}

/** The Pod of a VMI that its grant names, or its only one on this node. */
export function podOf(
  pods: readonly KubeObject[],
  vmiUid: string,
  grant: ReadGrant,
): KubeObject | undefined {
  const own = pods.filter(({ metadata }) =>
    (metadata.ownerReferences ?? []).some(({ uid, controller }) => controller && uid === vmiUid),
  );
  const named = "podUID" in grant ? grant.podUID : "holder" in grant ? grant.holder.podUID : "";
  const found = own.find(({ metadata }) => metadata.uid === named);
  return found ?? (own.length === 1 ? own[0] : undefined);
}
