import { grantAnnotation, readTargetHolder, targetHolderAnnotation } from "@virtkit/api/grant";
import { entry } from "@virtkit/api/shape";
import { isRunning } from "@virtkit/api/status";
import type { JsonPatchOperation } from "@virtkit/kube";
import { apiError } from "../plan/api-error.ts";
import { versionTest } from "../plan/field-patch.ts";
import { jsonPointer } from "../plan/json-pointer.ts";
import { nameOf } from "../plan/object-name.ts";
import type { PlanError } from "../plan/plan.ts";
import type { PodObject } from "../vmi/cluster-objects.ts";
import { failedPass } from "./failed-pass.ts";
import type { MigrationPass } from "./migration-pass.ts";

/** Whether the run grant lets the target receive the guest, or there is no grant to ask. */
export function isHandoverGranted({ grant, uid }: MigrationPass): boolean {
  return !grant || grant.isHandedOver(uid);
}

/** Why this migration must not be handed to the node agents yet: an earlier one is not settled. */
export function earlierHandover({ grant, uid }: MigrationPass): string | undefined {
  if (!grant || !("target" in grant.read) || grant.read.migrationUID === uid) return undefined;
  return `the guest is still being handed over by migration ${grant.read.migrationUID}`;
}

/** Makes a patch of the VMI fail if the run grant has changed since it was read. */
export function grantTest({ grant, vmi, names }: MigrationPass): readonly JsonPatchOperation[] {
  const { annotations } = vmi.metadata ?? {};
  if (!grant || !annotations) return [];
  const key = names.own(grantAnnotation);
  const path = jsonPointer("metadata", "annotations", key);
  return [{ op: "test", path, value: entry(annotations, key) ?? null }];
}

/**
 * Hands over the run grant once the target's node agent has said which incarnation receives. The
 * source does not begin before it reads the grant.
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
  const refusal = draft.write({
    kind: "patch",
    resource: resources.vmis,
    object: nameOf(vmi),
    operations: [
      // Whatever has changed since: the guest may have ended or may have to, its migration may have failed, and then nobody
      // would look after the target.
      ...versionTest(vmi),
      { op: "add", path: jsonPointer("metadata", "annotations", key), value },
    ],
  });
  return refusal && apiError(refusal);
}
