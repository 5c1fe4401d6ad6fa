import { number, text } from "@virtkit/api/shape";
import type { MigrationPass } from "./migration-pass.ts";
import { isFinalMigration, isUnderWay } from "./migration-phase.ts";

/** Whether one more migration may be under way in the cluster, and leave the VMI's node. */
export function hasFreePlace({ view, vmi, config }: MigrationPass): boolean {
  const { parallelMigrationsPerCluster, parallelOutboundMigrationsPerNode } =
    config.cluster.migrations;
  const started = view.migrations.filter(
    (each) => !isFinalMigration(each) && (isUnderWay(each) || view.hasTargetPod(each)),
  );
  if (started.length >= number(parallelMigrationsPerCluster)) return false;
  const node = text(vmi.status?.nodeName);
  const leaving = started.filter((each) => {
    const { nodeName, migrationState } = view.vmiOf(each)?.status ?? {};
    return text(nodeName) === node || migrationState?.sourceNode === node;
  });
  return leaving.length < number(parallelOutboundMigrationsPerNode);
}
