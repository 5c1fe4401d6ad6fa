import { type Condition, conditionsOf, hasCondition } from "@virtkit/api/status";
import type { JsonPatchOperation } from "@virtkit/kube";
import { jsonPointer } from "../plan/json-pointer.ts";
import { podResource } from "../plan/resources.ts";
import type { Refusal } from "../plan/write-outcome.ts";
import type { PodObject } from "./cluster-objects.ts";
import { isReady } from "./pod-state.ts";
import { podName } from "./pod-writes.ts";
import type { VmiPass } from "./vmi-pass.ts";

/**
 * Tells the Pod whether its guest is paused: a readiness gate takes a paused guest out of Services.
 * Only this condition is written, because the others belong to the kubelet.
 */
export function mirrorPaused(pass: VmiPass, pod: PodObject): Refusal | undefined {
  const condition = unpausedChange(pass, pod);
  if (!condition) return undefined;
  // The gate opens with the write that comes when the launcher is ready: before that the Pod is not
  // ready anyway.
  if (!pass.config.stepByStep && condition.status === "True" && !isReady(pod)) return undefined;
  return pass.draft.write({
    kind: "patch",
    resource: podResource,
    object: podName(pod),
    subresource: "status",
    operations: conditionPatch(pod, condition),
  });
}

/** What the Pod's readiness gate must say; undefined if it says so already. */
export function unpausedChange(pass: VmiPass, pod: PodObject): Condition | undefined {
  const type = pass.names.podConditions.unpaused;
  const isPaused = hasCondition(conditionsOf(pass), "Paused", "True");
  const isShownAsRunning = hasCondition(conditionsOf(pod), type, "True");
  // A Pod that never showed its guest as running is not ready anyway.
  if (isPaused !== isShownAsRunning) return undefined;
  return {
    type,
    status: isPaused ? "False" : "True",
    reason: isPaused ? "Paused" : "NotPaused",
    message: isPaused ? "the guest is paused" : "the guest is not paused",
    lastProbeTime: pass.time,
    lastTransitionTime: pass.time,
  };
}

/** Sets one condition of a Pod. */
export function conditionPatch(
  { status }: PodObject,
  condition: Condition,
): readonly JsonPatchOperation[] {
  if (!status) return [{ op: "add", path: "/status", value: { conditions: [condition] } }];
  const { conditions } = status;
  if (!conditions) return [{ op: "add", path: "/status/conditions", value: [condition] }];
  const index = conditions.findIndex(({ type }) => type === condition.type);
  if (index < 0) return [{ op: "add", path: "/status/conditions/-", value: condition }];
  const path = jsonPointer("status", "conditions", index);
  return [
    { op: "test", path: `${path}/type`, value: condition.type },
    { op: "replace", path, value: condition },
  ];
}
