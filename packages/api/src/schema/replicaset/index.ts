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
} from "./virtual-machine-instance-replica-set.ts";
