import type { ClusterConfig } from "../config/index.ts";
import { ObjectMetaSchema, type VirtualMachineInstanceMigration } from "../schema/index.ts";
import { wireForm } from "./wire-form.ts";

/**
 * A new VirtualMachineInstanceMigration with the label by which the migrations of one virtual machine
 * are found, and the finalizer that keeps it until it has ended. The argument is not changed.
 */
export function defaultVirtualMachineInstanceMigration(
  migration: VirtualMachineInstanceMigration,
  { names }: Pick<ClusterConfig, "names">,
): VirtualMachineInstanceMigration {
  const metadata = wireForm(ObjectMetaSchema, migration.metadata ?? {});
  metadata.labels = { ...metadata.labels, [names.labels.vmiName]: migration.spec.vmiName ?? "" };
  metadata.finalizers = [...(metadata.finalizers ?? []), names.finalizers.migration];
  return { ...migration, metadata };
}
