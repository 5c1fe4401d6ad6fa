import { ObjectMetaSchema, type VirtualMachineInstanceMigration } from "../schema/index.ts";
import { wireForm } from "./wire-form.ts";

const selectorLabel = "kubevirt.io/vmi-name";
const finalizer = "kubevirt.io/migrationJobFinalize";

/**
 * A new VirtualMachineInstanceMigration with the label by which the migrations of one virtual machine
 * are found, and the finalizer that keeps it until it has ended. The argument is not changed.
 */
export function defaultVirtualMachineInstanceMigration(
  migration: VirtualMachineInstanceMigration,
): VirtualMachineInstanceMigration {
  const metadata = wireForm(ObjectMetaSchema, migration.metadata ?? {});
  metadata.labels = { ...metadata.labels, [selectorLabel]: migration.spec.vmiName ?? "" };
  metadata.finalizers = [...(metadata.finalizers ?? []), finalizer];
  return { ...migration, metadata };
}
