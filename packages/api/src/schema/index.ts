export * from "./cdi/index.ts";
export { type CheckOptions, type CheckResult, check } from "./check.ts";
export { checkObject } from "./check-object.ts";
export * from "./cluster/index.ts";
export * from "./core/index.ts";
export * from "./devices/index.ts";
export * from "./domain/index.ts";
export { type Duration, DurationSchema, durationMilliseconds, isDuration } from "./duration.ts";
export {
  guardShape,
  type ShapeProblem,
  type ShapeRefusal,
  shapeProblem,
  typeProblem,
} from "./guard-shape.ts";
export * from "./instance/index.ts";
export * from "./instancetype/index.ts";
export { type IntOrString, IntOrStringSchema } from "./int-or-string.ts";
export { formatPath, type Issue, type IssueCode, type Path } from "./issue.ts";
export * from "./migration/index.ts";
export {
  groupOf,
  type KnownObject,
  type ObjectKind,
  type ObjectKindName,
  type ObjectTypes,
  objectKinds,
  type SchemaForOptions,
  schemaFor,
} from "./object-kinds.ts";
export {
  type VirtualMachinePool,
  VirtualMachinePoolSchema,
  type VirtualMachinePoolSpec,
} from "./pool/virtual-machine-pool.ts";
export { prune } from "./prune.ts";
export {
  isQuantityText,
  type QuantityInput,
  QuantityInputSchema,
  quantityPattern,
} from "./quantity-input.ts";
export {
  type VirtualMachineInstanceReplicaSet,
  type VirtualMachineInstanceReplicaSetCondition,
  VirtualMachineInstanceReplicaSetConditionSchema,
  type VirtualMachineInstanceReplicaSetConditionType,
  VirtualMachineInstanceReplicaSetConditionTypeSchema,
  VirtualMachineInstanceReplicaSetConditionTypeValues,
  VirtualMachineInstanceReplicaSetSchema,
  type VirtualMachineInstanceReplicaSetSpec,
  VirtualMachineInstanceReplicaSetSpecSchema,
  type VirtualMachineInstanceReplicaSetStatus,
  VirtualMachineInstanceReplicaSetStatusSchema,
} from "./replicaset/virtual-machine-instance-replica-set.ts";
export type { Rules, Validation } from "./rules.ts";
export type {
  Empty,
  FieldNode,
  IntegerFormat,
  JsonObject,
  OpenEnum,
  Schema,
  SchemaNode,
} from "./schema.ts";
export * as build from "./schema.ts";
export * from "./status/index.ts";
export { isTime, type Time, TimeSchema } from "./time.ts";
export * from "./virtual-machine/index.ts";
