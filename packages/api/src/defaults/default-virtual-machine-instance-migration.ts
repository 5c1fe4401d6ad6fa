import type { ClusterConfig } from "../config/index.ts";
import {
  ObjectMetaSchema,
  type VirtualMachineInstanceMigration,
  VirtualMachineInstanceMigrationSchema,
} from "../schema/index.ts";
import { guardObject } from "./guard-object.ts";
import { wireForm } from "./wire-form.ts";

/**
 * A new VirtualMachineInstanceMigration with the label by which the migrations of one VMI are found, and the
 * finalizer that keeps it until it has ended. The argument is not changed. Throws an `ApiError` with
 * `API_OBJECT_MALFORMED` and the field as `path` if its shape is wrong.
 */
export function defaultVirtualMachineInstanceMigration(
  migration: VirtualMachineInstanceMigration,
  { names }: Pick<ClusterConfig, "names">,
): VirtualMachineInstanceMigration {
  return guardObject(VirtualMachineInstanceMigrationSchema, migration, () => {
    const metadata = wireForm(ObjectMetaSchema, migration.metadata ?? {});
    metadata.labels = { ...metadata.labels, [names.labels.vmiName]: migration.spec.vmiName ?? "" };
    metadata.finalizers = [...(metadata.finalizers ?? []), names.finalizers.migration];
    return { ...migration, metadata };
  });
}
