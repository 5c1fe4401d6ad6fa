import { text } from "@virtkit/api/shape";
import { conditionsOf, findCondition } from "@virtkit/api/status";
import { apiVersionOf, defineResource, type KubeObject, type Resource } from "@virtkit/kube";
import { apiError } from "../plan/api-error.ts";
import { nameOf, uidOf } from "../plan/object-name.ts";
import type { PlanError } from "../plan/plan.ts";
import { failedPass } from "./failed-pass.ts";
import type { MigrationPass } from "./migration-pass.ts";
import { dropTargetState, moveState } from "./target-state.ts";

/** Jobs. */
export const jobResource: Resource = defineResource({
  group: "batch",
  version: "v1",
  plural: "jobs",
  kind: "Job",
});

/** The name of the job that checks the state of a migration. */
export function recoveryJobName(migration: string): string {
  return `recover-${migration}`;
}

/** The job's exit code if the file does not exist. That is an answer, not a failure. */
const notMoved = 42;

/**
 * Determines whether the guest had moved when its migration was interrupted: QEMU leaves a file
 * with the source's state. A job looks for it, and the state of the side that has the guest is
 * kept.
 *
 * @returns the result of the migration, or why it is not known yet
 */
export function recoverState(pass: MigrationPass): "Succeeded" | "Failed" | PlanError {
  const { sourcePersistentStatePVCName: source, targetPersistentStatePVCName: target } =
    pass.migration.status?.migrationState ?? {};
  if (text(source) === text(target)) return "Failed";
  const job = pass.view.recoveryJob;
  if (!job) return createJob(pass, text(source));
  const conditions = conditionsOf(job);
  if (findCondition(conditions, "Complete")?.status === "True") {
    return moveState(pass) ?? "Succeeded";
  }
  const failed = findCondition(conditions, "Failed");
  if (failed?.status !== "True")
    return failedPass("the job that looks for the state is still running");
  if (failed.reason === "PodFailurePolicy") return dropTargetState(pass) ?? "Failed";
  pass.draft.write({
    kind: "delete",
    resource: jobResource,
    object: nameOf(job),
    uid: uidOf(job),
  });
  return failedPass(
    `the job that looks for the state failed and will be tried again: ${failed.message}`,
  );
}

function createJob(pass: MigrationPass, claimName: string): PlanError {
  const object = recoveryJob(pass, claimName) as unknown as KubeObject;
  const refusal = pass.draft.write({ kind: "create", resource: jobResource, object });
  if (refusal) return apiError(refusal);
  return failedPass("the migration was interrupted; a job looks for the guest's state");
}

function recoveryJob(
  { resources, namespace, name, uid, config }: MigrationPass,
  claimName: string,
) {
  const volume = "backend-storage";
  const container = "container";
  return {
    apiVersion: apiVersionOf(jobResource),
    kind: jobResource.kind,
    metadata: {
      namespace,
      name: recoveryJobName(name),
      ownerReferences: [
        {
          apiVersion: apiVersionOf(resources.migrations),
          kind: resources.migrations.kind,
          name,
          uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: {
      activeDeadlineSeconds: 30,
      backoffLimit: 0,
      ttlSecondsAfterFinished: 30,
      podFailurePolicy: {
        rules: [
          {
            action: "FailJob",
            onExitCodes: { containerName: container, operator: "In", values: [notMoved] },
          },
        ],
      },
      template: {
        metadata: { generateName: `${recoveryJobName(name)}-` },
        spec: {
          restartPolicy: "Never",
          securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
          containers: [
            {
              name: container,
              image: config.profile.image,
              command: ["bash"],
              args: ["-c", `ls /meta/migrated || exit ${notMoved}`],
              securityContext: {
                allowPrivilegeEscalation: false,
                capabilities: { drop: ["ALL"] },
              },
              volumeMounts: [{ name: volume, mountPath: "/meta", subPath: "meta" }],
            },
          ],
          volumes: [{ name: volume, persistentVolumeClaim: { claimName } }],
        },
      },
    },
  };
}
