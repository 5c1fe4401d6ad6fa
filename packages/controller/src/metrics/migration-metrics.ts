import type { VirtualMachineInstanceMigration } from "@virtkit/api/schema";
import { text } from "@virtkit/api/shape";
import type { CollectedMetric } from "./collected-metric.ts";

/** What the metrics of migrations are computed from. */
export interface MigrationMetricsView {
  readonly migrations: readonly VirtualMachineInstanceMigration[];
}

/** Phases that KubeVirt counts together. */
const counted = {
  unset: [""],
  pending: ["Pending"],
  scheduling: ["Scheduling"],
  running: ["Scheduled", "PreparingTarget", "TargetReady", "Running"],
} as const;

const phaseOf = ({ status }: VirtualMachineInstanceMigration): string => text(status?.phase);

/** The metrics of migrations that virt-controller serves, under KubeVirt's names. */
export const migrationMetrics: readonly CollectedMetric<MigrationMetricsView>[] = [
  ...Object.entries(counted).map(
    ([name, phases]): CollectedMetric<MigrationMetricsView> => ({
      name: `kubevirt_vmi_migrations_in_${name}_phase`,
      help: `Migrations whose phase is ${name}`,
      labels: [],
      samples: ({ migrations }) => {
        const isIn = (each: VirtualMachineInstanceMigration): boolean =>
          (phases as readonly string[]).includes(phaseOf(each));
        return [{ labels: {}, value: migrations.filter(isIn).length }];
      },
    }),
  ),
  ...(["Succeeded", "Failed"] as const).map(
    (phase): CollectedMetric<MigrationMetricsView> => ({
      name: `kubevirt_vmi_migration_${phase.toLowerCase()}`,
      help: `Migrations that have ${phase.toLowerCase()}`,
      labels: ["vmi", "vmim", "namespace"],
      samples: ({ migrations }) =>
        migrations
          .filter((each) => phaseOf(each) === phase)
          .map(({ metadata, spec }) => ({
            labels: {
              vmi: text(spec?.vmiName),
              vmim: text(metadata?.name),
              namespace: text(metadata?.namespace),
            },
            value: 1,
          })),
    }),
  ),
];
