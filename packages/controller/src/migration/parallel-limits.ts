import { number, text } from "@virtkit/api/shape";
import type { MigrationPass } from "./migration-pass.ts";
import { isFinalMigration, isUnderWay } from "./migration-phase.ts";

/** Whether the cluster, and the VMI's node, allow one more migration. */
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
