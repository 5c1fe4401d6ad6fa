import { text } from "@virtkit/api/shape";
import { isPendingUnschedulable, pendingPodTimeouts } from "@virtkit/migration/policy";
import type { PlanError } from "../plan/plan.ts";
import type { PodObject } from "../vmi/cluster-objects.ts";
import { created } from "../vmi/own-pods.ts";
import { deleteTarget } from "./cancel-target.ts";
import type { MigrationPass } from "./migration-pass.ts";

/**
 * Limits how long a target Pod may take to start; the limit is shorter if no node has room for it.
 */
export function watchPendingPod(pass: MigrationPass, pod: PodObject): PlanError | undefined {
  const createdAt = created(pod);
  if (pod.status?.phase !== "Pending" || pod.metadata?.deletionTimestamp || createdAt === 0) {
    return undefined;
  }
  const { unschedulableSeconds, catchAllSeconds } = pendingPodTimeouts(pass.migration, pass.names);
  const waited = Math.max(0, Math.floor(pass.now / 1000) - Math.floor(createdAt / 1000));
  if (isPendingUnschedulable(pod)) {
    reportUnschedulable(pass, pod);
    if (waited >= unschedulableSeconds) {
      return deleteTarget(pass, pod, `no node was found for it within ${waited} seconds`);
    }
    pass.recheck(unschedulableSeconds - waited);
  }
  if (waited >= catchAllSeconds) {
    return deleteTarget(pass, pod, `it did not start within ${waited} seconds`);
  }
  pass.recheck(catchAllSeconds - waited);
  return undefined;
}

function reportUnschedulable(pass: MigrationPass, pod: PodObject): void {
  const { vmi } = pass;
  if (vmi.spec.domain.cpu?.model === "host-model" && !hasFittingNode(pass, pod)) {
    const message = "no other node has the CPU that the guest was started on";
    pass.vmiEvent("Warning", "NoSuitableNodesForHostModelMigration", message);
  }
  const message = `no node has been found for target Pod ${text(pod.metadata?.name)} yet`;
  pass.event("Warning", "migrationTargetPodUnschedulable", message);
}

/** Whether a node other than the guest's has the CPU that the target Pod requires. */
function hasFittingNode({ view, vmi, names }: MigrationPass, { spec }: PodObject): boolean {
  const { cpuModelMigration, cpuFeature } = names.nodeLabels;
  const wanted = Object.entries(spec?.nodeSelector ?? {}).filter(
    ([key]) => key.startsWith(cpuModelMigration) || key.startsWith(cpuFeature),
  );
  return view
    .nodes()
    .filter(({ metadata }) => metadata?.name !== vmi.status?.nodeName)
    .some(({ metadata }) => wanted.every(([key, value]) => metadata?.labels?.[key] === value));
}
