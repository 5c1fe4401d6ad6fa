import type { VirtualMachineInstanceMigration } from "@virtkit/api/schema";
import { apiError } from "../plan/api-error.ts";
import { nameOf, uidOf } from "../plan/object-name.ts";
import type { PlanError } from "../plan/plan.ts";
import type { PodObject } from "../vmi/cluster-objects.ts";
import { created } from "../vmi/own-pods.ts";
import { deletion } from "./cancel-target.ts";
import type { MigrationPass } from "./migration-pass.ts";
import { isFinalMigration } from "./migration-phase.ts";

/** How many finished migrations of a VMI are kept for people to look at. */
const kept = 5;

/** Deletes the oldest finished migrations of the VMI, each with the Pod that it left behind. */
export function collectGarbage(pass: MigrationPass): PlanError | undefined {
  const { draft, resources } = pass;
  const over = migrationsOfVmi(pass)
    .filter((each) => isFinalMigration(each) && !each.metadata?.deletionTimestamp)
    .sort((a, b) => created(a) - created(b));
  for (const each of over.slice(0, Math.max(0, over.length - kept))) {
    const pod = leftPod(pass, each);
    // A Pod that a handover or a claim names is kept, and so is its migration until then.
    if (pod && pass.grant?.refuseDeletion(pod, { isEnding: false }) !== undefined) continue;
    const refusal =
      (pod && deletion(pass, pod)) ??
      draft.write({
        kind: "delete",
        resource: resources.migrations,
        object: nameOf(each),
        uid: uidOf(each),
      });
    if (refusal) return apiError(refusal);
  }
  return undefined;
}

/** The migrations that name the VMI. */
export function migrationsOfVmi({
  view,
  vmi,
  namespace,
}: MigrationPass): VirtualMachineInstanceMigration[] {
  return view.migrations.filter(
    ({ metadata, spec }) =>
      metadata?.namespace === namespace && spec?.vmiName === vmi.metadata?.name,
  );
}

/**
 * What a migration has left behind: its target if it failed, its source if it succeeded. For all
 * others that is unknown.
 */
function leftPod(
  { view }: MigrationPass,
  { status }: VirtualMachineInstanceMigration,
): PodObject | undefined {
  const { failed, completed, targetPod, sourcePod } = status?.migrationState ?? {};
  if (failed) return view.pods.find((each) => nameOf(each).name === targetPod);
  return completed ? view.pods.find((each) => nameOf(each).name === sourcePod) : undefined;
}
