import { grantAnnotation, readTargetHolder, targetHolderAnnotation } from "@virtkit/api/grant";
import { entry } from "@virtkit/api/shape";
import { isRunning } from "@virtkit/api/status";
import { apiError } from "../plan/api-error.ts";
import { jsonPointer } from "../plan/json-pointer.ts";
import { nameOf } from "../plan/object-name.ts";
import type { PlanError } from "../plan/plan.ts";
import type { PodObject } from "../vmi/cluster-objects.ts";
import { failedPass } from "./failed-pass.ts";
import type { MigrationPass } from "./migration-pass.ts";

/** Whether the run grant lets the target receive, or there is none to ask. */
export function isHandoverGranted({ grant, uid }: MigrationPass): boolean {
  return !grant || grant.isHandedOver(uid);
}

/**
 * Hands the run grant over, once the target's node agent has said which incarnation receives. The source
 * does not begin before it reads that.
 */
export function grantHandover(pass: MigrationPass, targetPod: PodObject): PlanError | undefined {
  const { grant, vmi, names, uid, draft, resources } = pass;
  if (!grant || isHandoverGranted(pass) || !vmi.status?.migrationState?.targetNodeAddress) {
    return undefined;
  }
  const { annotations } = vmi.metadata ?? {};
  const target = readTargetHolder(entry(annotations, names.own(targetHolderAnnotation)));
  if (!target || target.migrationUID !== uid || target.holder.podUID !== targetPod.metadata?.uid) {
    return undefined;
  }
  const refused = grant.handOver({
    target: target.holder,
    migrationUID: uid,
    sourceRuns: isRunning(vmi),
  });
  if (refused) return failedPass(`the guest is not handed over: ${refused.message}`);
  const key = names.own(grantAnnotation);
  const value = grant.annotations[key];
  if (value === undefined) return undefined;
  const path = jsonPointer("metadata", "annotations", key);
  const refusal = draft.write({
    kind: "patch",
    resource: resources.vmis,
    object: nameOf(vmi),
    operations: [
      { op: "test", path, value: entry(annotations, key) ?? null },
      { op: "add", path, value },
    ],
  });
  return refusal && apiError(refusal);
}
