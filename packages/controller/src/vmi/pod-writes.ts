import { text } from "@virtkit/api/shape";
import type { KubeObject, ObjectName } from "@virtkit/kube";
import type { Pod } from "@virtkit/launcher-pod";
import { podResource } from "../plan/resources.ts";
import type { Refusal } from "../plan/write-outcome.ts";
import type { PodObject } from "./cluster-objects.ts";
import type { VmiPass } from "./vmi-pass.ts";

/** The name of a Pod. */
export function podName({ metadata }: PodObject): ObjectName {
  return { namespace: text(metadata?.namespace), name: text(metadata?.name) };
}

/** Plans the creation of a Pod in the VMI's namespace. */
export function createPod(pass: VmiPass, pod: Pod): Refusal | undefined {
  const object = { ...pod, metadata: { ...pod.metadata, namespace: pass.namespace } };
  return pass.draft.write({ kind: "create", resource: podResource, object: object as KubeObject });
}

/** Plans the deletion of a Pod and reports it. */
export function deletePod(
  pass: VmiPass,
  pod: PodObject,
  what: string,
  options: { readonly gracePeriodSeconds?: number } = {},
): Refusal | undefined {
  const refusal = pass.draft.write({
    kind: "delete",
    resource: podResource,
    object: podName(pod),
    uid: text(pod.metadata?.uid),
    ...options,
  });
  const name = text(pod.metadata?.name);
  if (refusal) {
    const message = `${what} ${name} could not be deleted: ${refusal.message}`;
    pass.event("Warning", "FailedDelete", message);
  } else {
    pass.event("Normal", "SuccessfulDelete", `${what} ${name} was deleted`);
  }
  return refusal;
}
