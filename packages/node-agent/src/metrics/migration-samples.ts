import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { MigrationReport } from "@virtkit/launcher/client";
import type { Sample } from "./guest-samples.ts";

/** How far a migration is, as the launcher of its source says. */
export type MigrationFigures = Pick<
  NonNullable<MigrationReport["progress"]>,
  "total" | "transferred" | "remaining" | "dirtyBytesPerSecond" | "momentaryBytesPerSecond"
>;

/** How far a guest's migration is as samples of Prometheus, by KubeVirt's names; none before its amounts are known. */
export function migrationSamples(
  { metadata, status }: VirtualMachineInstance,
  figures: MigrationFigures | undefined,
): Sample[] {
  if (!figures || figures.total === 0) return [];
  const labels = {
    node: status?.nodeName ?? "",
    namespace: metadata?.namespace ?? "",
    name: metadata?.name ?? "",
  };
  const values = {
    data_bytes_total: figures.total,
    data_processed_bytes: figures.transferred,
    data_remaining_bytes: figures.remaining,
    dirty_memory_rate_bytes: figures.dirtyBytesPerSecond,
    memory_transfer_rate_bytes: figures.momentaryBytesPerSecond,
  };
  return Object.entries(values).map(([name, value]) => ({
    ...{ metric: `kubevirt_vmi_migration_${name}`, labels, value },
  }));
}
