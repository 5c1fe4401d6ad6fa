import { text } from "@virtkit/api/shape";
import type { PlanError } from "../plan/plan.ts";
import { podResource } from "../plan/resources.ts";
import type { Refusal } from "../plan/write-outcome.ts";
import type { PodObject } from "../vmi/cluster-objects.ts";
import { podName } from "../vmi/pod-writes.ts";
import { failedPass } from "./failed-pass.ts";
import type { MigrationPass } from "./migration-pass.ts";

/** Deletes the target Pod of a migration that was cancelled before the node agents knew of it. */
export function cancelTarget(pass: MigrationPass): PlanError | undefined {
  const { targetPod } = pass;
  return targetPod && deleteTarget(pass, targetPod, "the migration was cancelled");
}

/** Deletes a target Pod that no guest has moved to. */
export function deleteTarget(
  pass: MigrationPass,
  pod: PodObject,
  why: string,
): PlanError | undefined {
  const name = text(pod.metadata?.name);
  const blocked = pass.grant?.refuseDeletion(pod, { isEnding: false });
  if (blocked !== undefined) return failedPass(`target Pod ${name} is kept: ${blocked}`);
  const refusal = deletion(pass, pod);
  if (!refusal) {
    pass.event("Normal", "SuccessfulDelete", `target Pod ${name} was deleted: ${why}`);
    return undefined;
  }
  const message = `target Pod ${name} could not be deleted: ${refusal.message}`;
  pass.event("Warning", "FailedDelete", message);
  return failedPass(message);
}

/** Plans the deletion of this very Pod. */
export function deletion({ draft }: MigrationPass, pod: PodObject): Refusal | undefined {
  return draft.write({
    kind: "delete",
    resource: podResource,
    object: podName(pod),
    uid: text(pod.metadata?.uid),
  });
}
