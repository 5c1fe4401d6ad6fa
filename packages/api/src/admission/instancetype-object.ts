import {
  type Schema,
  type SchemaNode,
  VirtualMachineClusterInstancetypeSchema,
  VirtualMachineClusterPreferenceSchema,
  VirtualMachineInstancetypeSchema,
  VirtualMachinePreferenceSchema,
} from "../schema/index.ts";
import { at, isSet, number } from "../shape.ts";
import { type Admission, judge, refuseShape } from "./admission.ts";
import { type Cause, fine, invalid } from "./cause.ts";
import { decode } from "./decode.ts";

/** Resources of instance types and preferences. */
export type InstancetypeResource =
  | "virtualmachineinstancetypes"
  | "virtualmachineclusterinstancetypes"
  | "virtualmachinepreferences"
  | "virtualmachineclusterpreferences";

const schemas: Readonly<Record<InstancetypeResource, SchemaNode>> = {
  virtualmachineinstancetypes: VirtualMachineInstancetypeSchema,
  virtualmachineclusterinstancetypes: VirtualMachineClusterInstancetypeSchema,
  virtualmachinepreferences: VirtualMachinePreferenceSchema,
  virtualmachineclusterpreferences: VirtualMachineClusterPreferenceSchema,
};

/** Checks an instance type or a preference: its shape, and the memory that it sets. */
export function admitInstancetypeObject(
  resource: InstancetypeResource,
  { object }: { readonly object: unknown },
): Admission {
  const decoded = decode(schemas[resource] as Schema<object>, object);
  if (!decoded.ok) return refuseShape(decoded);
  return resource.endsWith("instancetypes") ? judge(memory(decoded.object)) : judge(fine);
}

/** Overcommitted memory cannot be hugepages, which are reserved. */
function memory(instancetype: object): readonly Cause[] {
  const field = "spec.memory.overcommitPercent";
  const percent = number(at(instancetype, "spec", "memory", "overcommitPercent"));
  if (percent < 0 || percent > 100) return invalid(field, `is ${percent}; use 0 to 100`);
  return percent !== 0 && isSet(at(instancetype, "spec", "memory", "hugepages"))
    ? invalid(field, "cannot be used together with spec.memory.hugepages; choose one")
    : fine;
}
